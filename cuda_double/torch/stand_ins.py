"""stand_ins.py: what a stand-in for one library of CUDA answers, for the functions that the wheels of PyTorch import.

usage: stand_ins.py LIBRARY BY_HAND_SOURCE OUT IMPORTS...    IMPORTS: the list of one wheel, made by imports.py
Writes OUT/answers.def, one macro a function, and OUT/exports.map. A function of BY_HAND_SOURCE is defined there. Of the
others, those of a plain training step return success: ACCEPTS has nothing to do, COMPUTES would compute on the
device. Every other one is not modelled: it prints its name and returns the library's "not supported", or ends
the process where the library has no such number.
"""
import pathlib
import re
import sys

ACCEPTS = re.compile(
    r"cublas(Lt)?(Set(Stream|Workspace|MathMode|PointerMode)|Destroy|MatmulDescSet|MatmulPreferenceSet|MatrixLayoutSet)"
    r"|cudnn(Backend(SetAttribute|Finalize|DestroyDescriptor)|(Set|Destroy)Tensor(Nd)?Descriptor)"
    r"|(cudnn|cusparse|cusolverDn)(SetStream|Destroy$)"
    r"|cupti(Subscribe|Unsubscribe|Enable|Activity(?!GetNextRecord)|Finalize)"
)
COMPUTES = re.compile(
    r"cublas(Lt)?(Matmul$|GemmEx|GemmStridedBatchedEx|[SDCZ]?[Gg]emm|DotEx|[SDCZ](gemv|dot|axpy|scal|trsm|ger|nrm2|trmm)(?!f))"
    r"|cudnn(BackendExecute|BatchNormalization(Forward|Backward))"
)
# The public number of "not supported" of each library that has one.
NOT_SUPPORTED = {"libcublas": 15, "libcublasLt": 15, "libcudnn": 3000, "libcufft": 16, "libcupti": 27, "libcusolver": 9,
                 "libcusparse": 10, "libcusparseLt": 10}
DEFINED = re.compile(r"^GPULESS_STAND_IN .*?\*?(\w+)\(", re.MULTILINE)


def answer(name, stem):
    if ACCEPTS.match(name):
        return f"GPULESS_ACCEPTS({name})"
    if COMPUTES.match(name):
        return f"GPULESS_COMPUTES({name})"
    return f"GPULESS_NOT_MODELLED({name}, {NOT_SUPPORTED.get(stem, -1)})"


def functions_of(library, lists):
    """Each function that a list has of this library, with its version ("": none)."""
    versions = {}
    for path in lists:
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            of, version, name = line.split()
            if of == library and name != "-":
                versions[name] = versions.get(name) or version.strip("-")
    return versions


def exports_of(library, versions):
    """The version script. Who asks for no version also accepts one, and a script has versions for all or for none."""
    nodes = {}
    without = library if any(versions.values()) else ""
    for name, version in sorted(versions.items()):
        nodes.setdefault(version or without, []).append(name)
    lines = [f"{version} {{ global: {'; '.join(names)}; }};\n" for version, names in sorted(nodes.items())]
    return "".join(lines) + (f"{library}.HIDDEN {{ local: *; }};\n" if "" not in nodes else "")


def main():
    library, source, out, *lists = sys.argv[1:]
    versions = functions_of(library, lists)
    by_hand = set(DEFINED.findall(pathlib.Path(source).read_text(encoding="utf-8")))
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = library.split(".so")[0]
    answers = "".join(f"{answer(name, stem)}\n" for name in sorted(versions) if name not in by_hand)
    (folder / "answers.def").write_text(answers, encoding="utf-8")
    (folder / "exports.map").write_text(exports_of(library, versions), encoding="utf-8")


main()
