#!/usr/bin/env python3
"""correct_bench.py BUILD: watches correct programs over MPI, Gloo and PyTorch, made from seeds, and counts the alarms.

  --runs N          about so many programs in all, evenly over the libraries (200)
  --in-a-job K      so many programs in each job, one after the other (10)
  --first SEED      the first seed (1)
  --seconds S       begin no further run after so long
  --library NAME    only this one (openmpi4, openmpi5, mpich4, mpich5, gloo, c10d)
  --only FEATURE    each program uses this feature, once
  --jobs N          so many programs at once (1)
  --results FILE    one line of JSON per run; what it holds is not run again
  --totals FILE     the sums of earlier runs (JSON): go on after each library's last seed, and write the new sums
  --page FILE       write the table (docs/measurements/correct-programs.md)
  --check           a test: exit 1 at the first alarm

Each job has 2 to 6 ranks and runs alone and under `rankfault watch`. Its output and status must be the same, and the result
without a finding. Where they differ it runs alone up to ten times more (two with --check): a job that also fails alone is
counted apart. Programs share a job because most of the time goes to starting ranks.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import own_ranks  # noqa: E402
from correct_totals import PAGE, add, read_totals, table  # noqa: E402

ROOT = {f"{who}_ALLOW_RUN_AS_ROOT{what}": "1" for who in ("OMPI", "PRTE") for what in ("", "_CONFIRM")}
LIMIT = 120  # seconds for a job; ten programs take about ten
MORE_ALONE, MORE_ALONE_IN_A_CHECK = 10, 2


def compiled(compiler, source, program, *words):
    """Whether it could be: the library and its compiler are there."""
    command = [compiler, "-O1", "-w", "-o", str(program), str(HERE / source), "-pthread", *words]
    return shutil.which(compiler) and subprocess.run(command, capture_output=True, check=False).returncode == 0


def mpis(folder):
    five, mpich = (os.environ.get(name, "") for name in ("RANKFAULT_OPENMPI5_PREFIX", "RANKFAULT_MPICH5_PREFIX"))
    for name, launcher, compiler, library, words in (
            ("openmpi4", "mpirun.openmpi", "mpicc.openmpi", "", ["--oversubscribe"]),
            ("openmpi5", f"{five}/bin/mpirun", f"{five}/bin/mpicc", f"{five}/lib", ["--oversubscribe"]),
            ("mpich4", "mpiexec.mpich", "mpicc.mpich", "", []),
            ("mpich5", f"{mpich}/bin/mpiexec", f"{mpich}/bin/mpicc", f"{mpich}/lib", [])):
        link = [f"-Wl,-rpath,{library}"] if library else []
        if shutil.which(launcher) and compiled(compiler, "mpi_correct.c", folder / name, *link):
            yield name, lambda ranks, seed, programs, only, start=(launcher, *words), at=folder / name: [
                *start, "-np", str(ranks), str(at), str(seed), str(programs), *(["1", only] if only else [])]


def libraries(folder):
    """Name of each library that is installed, and the words that start so many ranks of a program for it."""
    yield from mpis(folder)
    gloo = folder / "gloo"
    if compiled("g++", "gloo_correct.cc", gloo, "-std=c++20", f"-I{HERE.parent.parent}", "-lgloo"):
        yield "gloo", lambda ranks, seed, programs, only: own_ranks.words_with_store(
            ranks, str(gloo), f"--seed={seed}", f"--programs={programs}", *(["--steps=1", f"--only={only}"] if only else []))
    python = os.environ.get("RANKFAULT_PYTHON")
    if python:
        yield "c10d", lambda ranks, seed, programs, only: [
            python, "-B", "-W", "ignore", str(HERE / "c10d_correct.py"), str(seed), str(ranks), str(programs),
            *(["1", only] if only else [])]


RUNNING = set()


def end_all(*_):
    for job in list(RUNNING):
        job.terminate()
    sys.exit("ended before the last program")


def run(command, folder):
    """Status and output; the whole job is ended after LIMIT."""
    env = {**os.environ, **ROOT, "TMPDIR": str(folder), "OMPI_MCA_mpi_yield_when_idle": "1"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        RUNNING.add(job)
        try:
            output, errors = job.communicate(timeout=LIMIT)
            return {"status": job.returncode, "output": output, "errors": errors[-2000:]}
        except subprocess.TimeoutExpired:
            job.terminate()
            output, errors = job.communicate()
            return {"status": "none in time", "output": output, "errors": errors[-2000:]}
        finally:
            RUNNING.discard(job)


def own_lines(output):
    return re.findall(r"^(?:seed|used|sum) .*$", output, re.M)


def used_by(lines):
    """How often each program used each feature."""
    programs = []
    for line in lines:
        word, *rest = line.split()
        if word == "seed":
            programs.append({})
        elif word == "used" and programs:
            programs[-1][rest[0]] = int(rest[1])
    return programs


def watch(tool, command, folder):
    where = folder / "run"
    alone = [] if "-np" in command else ["--ranks", "1"]  # it starts its ranks itself
    done = run([tool, "watch", "--json", *alone, "--run-dir", str(where), "--", *command], folder)
    try:
        result = json.loads(done["output"])
        done["findings"] = [f for f in result["findings"] if f["kind"] != "none"] + result.get("unsafe", [])
    except (ValueError, KeyError):
        done["findings"] = [{"kind": "no result", "confidence": ""}]
    logs = (p.read_text(errors="replace") for p in sorted(where.rglob("*")) if p.is_file() and p.suffix in (".log", ".out"))
    done["output"] = done["errors"] + "".join(logs)
    journal = where / "journal.ndjson"
    told = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    done["told"] = [f["finding"] for f in told if f["ev"] == "finding" and f["finding"]["confidence"] == "proven"]
    shutil.rmtree(where, ignore_errors=True)
    return done


def one(tool, name, command, seed, ranks, programs, more_alone):
    with tempfile.TemporaryDirectory(prefix="rf-correct-") as folder:
        alone = run(command, folder)
        watched = watch(tool, command, pathlib.Path(folder))
        same = watched["status"] == alone["status"] == 0 and own_lines(watched["output"]) == own_lines(alone["output"])
        more = (run(command, folder) for _ in range(0 if same and not watched["findings"] else more_alone))
        failure = next((job for job in itertools.chain([alone], more) if job["status"] != 0), None)
        fails_alone = failure is not None
    alarm = watched["findings"] + watched["told"]
    return {"library": name, "seed": seed, "programs": programs, "ranks": ranks, "fails_alone": fails_alone,
            "alarm": bool(alarm) and not fails_alone, "changed": not same and not fails_alone,
            "proven_wrong": any(f["confidence"] == "proven" for f in alarm) and not fails_alone,
            "findings": alarm, "errors": "" if same else watched["errors"],
            "status": watched["status"], "alone": {what: failure[what] for what in ("status", "errors")} if failure else {},
            "used": used_by(own_lines(alone["output"]))}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--in-a-job", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--library", default="")
    parser.add_argument("--only", default="", metavar="FEATURE", help="each program uses this feature, once")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results")
    parser.add_argument("--totals")
    parser.add_argument("--page")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    for name in (args.results, args.totals, args.page):
        if name and not pathlib.Path(name).resolve().parent.is_dir():
            parser.error(f"{name}: there is no such folder")
    return args


def read_json_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []


def runs(args, libraries_here, totals, have):
    """Name, command and first seed of each job that is still to be run."""
    for number in range(-(-args.runs // args.in_a_job)):
        name, command = libraries_here[number % len(libraries_here)]
        first = totals[name]["next_seed"] if args.totals and name in totals else args.first
        seed = first + number // len(libraries_here) * args.in_a_job
        if (name, seed) not in have:
            yield name, command, seed


def results_of(args, libraries_here, totals, have):
    """The results in the order of runs(), as they come; none that begins after --seconds."""
    tool = str(pathlib.Path(args.build).resolve() / "bin" / "rankfault")
    end = time.monotonic() + args.seconds

    def result(run_):
        name, command, seed = run_
        ranks, programs = 2 + seed // args.in_a_job % 5, args.in_a_job
        if time.monotonic() > end:
            return None
        more_alone = MORE_ALONE_IN_A_CHECK if args.check else MORE_ALONE
        return one(tool, name, command(ranks, seed, programs, args.only), seed, ranks, programs, more_alone)

    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    try:
        for found in pool.map(result, list(runs(args, libraries_here, totals, have))):
            if found is None:
                return
            yield found
    finally:
        pool.shutdown(cancel_futures=True)


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, end_all)
    kept, sums = (pathlib.Path(name) if name else None for name in (args.results, args.totals))
    before = read_json_lines(kept)
    totals = read_totals(sums)
    if not sums:
        for result in before:
            add(totals, result)
    with tempfile.TemporaryDirectory(prefix="rf-correct-") as folder:
        here = [(n, c) for n, c in libraries(pathlib.Path(folder)) if args.library in ("", n)]
        if not here:
            print("skipped: no MPI, no Gloo and no PyTorch (to add one: apt-get install libopenmpi-dev openmpi-bin)")
            sys.exit(77)
        for result in results_of(args, here, totals, {(r["library"], r["seed"]) for r in before}):
            add(totals, result)
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps(result) + "\n")
            if sums:
                sums.write_text(json.dumps(totals, indent=1, sort_keys=True) + "\n")
            if result["alarm"] or result["changed"] or result["fails_alone"]:
                print(json.dumps({k: v for k, v in result.items() if k != "used"}), flush=True)
            if args.check and (result["alarm"] or result["changed"]):
                break
    print(table(totals))
    if args.page:
        pathlib.Path(args.page).write_text(PAGE + table(totals) + "\n", encoding="utf-8")
    sys.exit(1 if any(of["alarm"] or of["changed"] for of in totals.values()) else 0)


if __name__ == "__main__":
    main()
