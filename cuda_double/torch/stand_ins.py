"""stand_ins.py: what a stand-in for one library of CUDA answers, for the functions that a PyTorch wheel imports.

usage: stand_ins.py IMPORTS LIBRARY BY_HAND_SOURCE OUT
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


def main():
    imports, library, source, out = sys.argv[1:5]
    rows = [line.split() for line in pathlib.Path(imports).read_text(encoding="utf-8").splitlines()]
    versions, names = {}, []
    for _, version, name in (row for row in rows if row[0] == library and row[2] != "-"):
        versions.setdefault(version.strip("-"), []).append(name)
        names.append(name)
    by_hand = set(DEFINED.findall(pathlib.Path(source).read_text(encoding="utf-8")))
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = library.split(".so")[0]
    (folder / "answers.def").write_text("".join(f"{answer(n, stem)}\n" for n in names if n not in by_hand), encoding="utf-8")
    nodes = [f"{version} {{ global: {'; '.join(of)}; }};\n" for version, of in sorted(versions.items())]
    hidden = f"{library}.HIDDEN {{ local: *; }};\n" if "" not in versions else ""
    (folder / "exports.map").write_text("".join(nodes) + hidden, encoding="utf-8")


main()
