"""nccl_build_test.py: ./dev nccl reports why it cannot build, and no public function of its build bypasses
the model.

usage: nccl_build_test.py ROOT NCCL_FOLDER
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
SCRIPTS = ROOT / "cuda_double/nccl_build"
TOOLS = ["bash", "dirname", "mkdir", "find", "sort", "xargs", "sha256sum", "sed", "cut", "cat", "head", "tail"]
# NCCL looks these up and works without them, as with an older driver: no confidential computing, no fabric.
NVML_NOT_THERE = {"nvmlDeviceGetGpuFabricInfoV", "nvmlDeviceGetPlatformInfo", "nvmlSystemGetConfComputeSettings",
                  "nvmlSystemGetConfComputeState"}


def run(folder, environment, path=os.environ["PATH"]):
    env = {"PATH": path, "HOME": folder, **environment}
    bash = subprocess.run(["bash", SCRIPTS / "nccl.sh", folder, "stable"], env=env, capture_output=True, text=True,
                          check=False)
    return bash.returncode, bash.stderr


class NcclBuild(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        (pathlib.Path(self.folder.name) / "cuda12/include").mkdir(parents=True)  # so that no header is fetched

    def test_a_folder_that_is_no_source_tree_is_the_users_mistake(self):
        status, said = run(self.folder.name, {"RANKFAULT_NCCL_SRC": "/nowhere"})
        self.assertEqual(status, 64, said)
        self.assertIn("RANKFAULT_NCCL_SRC=/nowhere is no source tree of NCCL", said)

    def test_without_apt_it_is_skipped_with_the_reason(self):
        tools = pathlib.Path(self.folder.name) / "tools"
        tools.mkdir()
        for tool in TOOLS:
            found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
            (tools / tool).symlink_to(found)
        status, said = run(self.folder.name, {}, str(tools))
        self.assertEqual(status, 77, said)
        self.assertIn("skipped: no apt-get here", said)

    def test_a_mirror_that_does_not_answer_is_skipped_with_the_reason(self):
        status, said = run(self.folder.name, {"RANKFAULT_DEBIAN_MIRROR": "http://127.0.0.1:9/none"})
        self.assertEqual(status, 77, said)
        self.assertRegex(said, "skipped: (the mirror does not answer: E: |no keys of Debian|no apt-get)")

    def test_a_package_that_is_not_the_pinned_one_is_refused(self):
        script = ". fetch.sh; note() { echo \"$@\"; }; FOLDER=$1; fetch_stable"
        download = pathlib.Path(self.folder.name) / "download"
        download.mkdir()
        (download / "libnccl-dev_2.22.3-1-1_amd64.deb").write_text("another")
        bash = subprocess.run(["bash", "-c", script, "-", self.folder.name], cwd=SCRIPTS, capture_output=True,
                              text=True, check=False)
        self.assertEqual(bash.returncode, 1, bash.stderr)
        self.assertIn("is not the file that was pinned", bash.stdout)

    def test_no_object_defines_a_public_name_that_the_model_takes_over(self):
        versions = [mark.parent for mark in BUILT.glob("*/built-from")]
        if not versions:
            self.skipTest("./dev nccl has not been run")
        lines = (SCRIPTS / "entries.txt").read_text().splitlines()
        taken = {prefix + line for line in lines if line.startswith("nccl") for prefix in ("", "p")}
        for version in versions:
            objects = sorted((version / "objects").glob("*.o"))
            names = subprocess.run(["nm", *objects], capture_output=True, text=True, check=True).stdout.split()
            self.assertEqual(taken & set(names), set(), version)
            self.assertIn("own_pncclAllReduce", names, version)

    def test_what_nccl_looks_up_is_there_or_is_missing_on_purpose(self):
        versions = [mark.parent for mark in BUILT.glob("*/built-from")]
        if not versions:
            self.skipTest("./dev nccl has not been run")
        sources = "".join(file.read_text() for file in (ROOT / "cuda_double/cuda").glob("driver*.cc"))
        driver = set(re.findall(r"\b(cu[A-Z]\w+)", sources))
        nvml = set(re.findall(r"\b(nvml[A-Z]\w+)", (ROOT / "cuda_double/nvml/nvml.cc").read_text()))
        for version in versions:
            objects = sorted((version / "objects").glob("*.o"))
            text = subprocess.run(["strings", "-a", *objects], capture_output=True, text=True, check=True).stdout.split("\n")
            self.assertIn("cuLaunchKernel", text, version)
            self.assertEqual({name for name in text if re.fullmatch(r"cu[A-Z]\w+", name)} - driver, set(), version)
            asked = {name for name in text if re.fullmatch(r"nvml[A-Z]\w+", name)}
            self.assertEqual(asked - nvml, NVML_NOT_THERE & asked, version)
            undefined = subprocess.run(["nm", "-u", *objects], capture_output=True, text=True, check=True).stdout.split()
            self.assertEqual([name for name in undefined if re.fullmatch(r"cuda\w+_pt[sd][zs]", name)], [], version)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
