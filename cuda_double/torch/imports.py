"""imports.py: which functions of CUDA's libraries the libraries of a PyTorch wheel import.

usage: imports.py TORCH_LIB_FOLDER
Prints "LIBRARY VERSION FUNCTION" for each function ("-": no version), and "LIBRARY - -" for a library that
is needed, but of which no function is imported.
"""
import pathlib
import re
import subprocess
import sys

CUDA = re.compile(r"lib(cu|nccl|nv)[\w-]*\.so")
# Whose function a name without a version is. It counts only where the same file needs that library.
PREFIXES = (("cusparseLt", "libcusparseLt"), ("cuFile", "libcufile"), ("curand", "libcurand"), ("nccl", "libnccl"),
            ("cu", "libcuda"))


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needs_of(file):
    """The libraries of CUDA that a file needs, and which of them defines each version that it asks for."""
    text = output_of("objdump", "-p", file)
    needed = [name for name in re.findall(r"^ +NEEDED +(\S+)$", text, re.MULTILINE) if CUDA.match(name)]
    versions = {}
    for library, lines in re.findall(r"required from (\S+):\n((?: +0x.*\n)+)", text):
        if library in needed:
            versions.update((line.split()[-1], library) for line in lines.splitlines())
    return needed, versions


def library_of(name, version, needed, versions):
    if version:
        return versions.get(version)
    for prefix, stem in PREFIXES:
        if re.match(prefix + "[A-Z]", name):
            return next((library for library in needed if library.split(".so")[0] == stem), None)
    return None


def imports_of(file):
    needed, versions = needs_of(file)
    found = {(library, "-", "-") for library in needed}
    for line in output_of("nm", "-D", "--undefined-only", file).splitlines():
        kind, symbol = line.split()
        name, _, version = symbol.replace("@@", "@").partition("@")
        library = library_of(name, version, needed, versions)
        if library and kind == "U":
            found.add((library, version or "-", name))
    return found


def main():
    found = set()
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.so*")):
        found |= imports_of(file)
    if not found:
        sys.exit(f"{sys.argv[1]}: the libraries here import nothing from CUDA; the wheel was built without it")
    used = {library for library, _, name in found if name != "-"}
    for library, version, name in sorted(found):
        if name != "-" or library not in used:
            print(library, version, name)


main()
