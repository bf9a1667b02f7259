"""list_not_modelled.py: the functions of a header of the CUDA runtime that the double's sources do not define.

usage: list_not_modelled.py CUDA_RUNTIME_API_H SOURCE... ; prints GPULESS_NOT_MODELLED(name) lines
"""
import re
import sys

DECLARED = re.compile(r"^\s*extern __host__ .*?\b(cuda\w+)\(", re.MULTILINE)
RENAMED = re.compile(r"^\s*#\s*define\s+(cuda\w+)\s+(?:__CUDART_API_PTDS|__CUDART_API_PTSZ|(cuda\w+_v\d))", re.MULTILINE)
DEFINED = re.compile(r"^(?:GPULESS_API|GPULESS_PLAIN .*?|extern \"C\" .*?) \*?(cuda\w+)\(", re.MULTILINE)


def main():
    header = open(sys.argv[1], encoding="utf-8").read()
    sources = "".join(open(name, encoding="utf-8").read() for name in sys.argv[2:])
    versioned = {old: new for old, new in RENAMED.findall(header) if new}
    defined = set(DEFINED.findall(sources))
    defined |= {versioned[name] for name in defined if name in versioned}
    for name in sorted(set(DECLARED.findall(header)) | set(versioned.values())):
        exported = versioned.get(name, name)
        if name not in defined and exported not in defined:
            print(f"GPULESS_NOT_MODELLED({exported})")


main()
