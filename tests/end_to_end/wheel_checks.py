"""wheel_checks: makes the wheel of a build and checks what is in it; the tests of the wheels share it."""
import os
import re
import subprocess
import zipfile

FOREIGN = re.compile(r"libnccl|libmpi|libmpich|libcuda|libcudart|libgloo|libtorch")
# Programs of glibc 2.28 and of g++ 8's libstdc++ load the agent and the decoders (RHEL 8, Debian 10).
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11)}


def run(words, folder, env=None, wanted=0):
    done = subprocess.run(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"$ {words if isinstance(words, str) else ' '.join(map(str, words))}\n{done.stdout}status {done.returncode}\n", flush=True)
    assert done.returncode == wanted, f"status {done.returncode}, not {wanted}"
    return done.stdout


def make_wheel(source, build, folder):
    script = 'say() { echo "$*" >&2; }; . cmake/dev/aarch64.sh; . cmake/dev/wheel.sh; pack_wheel "$1" "$2"'
    run(["bash", "-euo", "pipefail", "-c", script, "pack", build, folder], source)
    wheel, = folder.glob("rankfault-*.whl")
    return wheel


def check_contents(wheel, processor):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert re.fullmatch(rf"rankfault-[0-9.]+-py3-none-manylinux_2_\d+_{processor}\.whl", wheel.name), wheel.name
    assert not [name for name in names if FOREIGN.search(os.path.basename(name))], names
    grafted = [os.path.basename(name) for name in names if name.startswith("rankfault.libs/")]
    licences = " ".join(name for name in names if "/licenses/" in name)
    assert grafted and "/licenses/LICENSE" in licences, names
    for library in grafted:  # libyaml-cpp-1a2b3c4d.so.0.7.0
        assert re.sub(r"-[0-9a-f]{8}(?=[.-])", "", library) in licences, f"no licence of {library}: {licences}"


def check_versions(folder):
    """Checks that what is loaded into other programs needs no newer version of a library than these have."""
    objects = sorted(folder.rglob("*.so"))
    assert len(objects) > 3, objects
    for path in objects:
        shown = subprocess.run(["readelf", "--version-info", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        needed = re.findall(r"\b(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", shown)
        assert needed, f"readelf shows no version in {path}"
        for library, version in needed:
            assert tuple(map(int, version.split("."))) <= NEWEST[library], f"{path} needs {library}_{version}"
