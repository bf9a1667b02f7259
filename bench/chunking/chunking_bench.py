"""chunking_bench: compares the cost of a sum in chunks with that of the whole sum, and writes a table.

usage: chunking_bench.py BUILD_DIR TABLE.md
"""
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

OVERSIZED = 467_019_003  # the element count of the notes that this benchmark is from
UNIT = 100_000_000
CASES = [  # elements, unit, ranks, rounds
    (OVERSIZED // 100, UNIT // 100, 2, 20),
    (OVERSIZED // 10, UNIT // 10, 2, 10),
    (OVERSIZED, UNIT, 2, 5),
    (OVERSIZED, UNIT // 3, 2, 4),
]


def chunks_of(count, unit):
    if count < unit:
        return 1
    if count <= 5 * unit:
        return min(max(-(-count // unit), 2), 5)
    return min(max(-(-2 * count // unit), 10), 20)


def measured(build, count, unit, ranks, rounds):
    with tempfile.TemporaryDirectory() as store:
        jobs = [subprocess.Popen([f"{build}/bin/sum_in_chunks", store, str(count), str(unit), str(rounds)],
                                 env=dict(os.environ, RANK=str(r), WORLD_SIZE=str(ranks)), stdout=subprocess.PIPE,
                                 text=True) for r in range(ranks)]
        outputs = [job.communicate()[0] for job in jobs]
        if any(job.returncode for job in jobs):
            sys.exit(f"{count} elements: a rank failed")
    return list(zip(*(map(float, line.split()) for line in outputs[0].splitlines())))


def busy_seconds():
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:]]
    return (sum(ticks[:3]) + sum(ticks[5:7])) / os.sysconf("SC_CLK_TCK")  # user, nice, system; interrupts


class Others:
    """Measures how many cores other programs use meanwhile."""

    def __enter__(self):
        self.begun, self.busy, self.own = time.monotonic(), busy_seconds(), self.own_seconds()
        return self

    def __exit__(self, *_):
        others = busy_seconds() - self.busy - (self.own_seconds() - self.own)
        self.cores = max(0.0, others / (time.monotonic() - self.begun))

    @staticmethod
    def own_seconds():
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))} to {form(max(values))})"


def main(build, table):
    load = os.getloadavg()[0]
    lines = ["# Chunked sums: what they cost", "",
             "Made by `./dev bench chunking`. float32 all-reduce over Gloo (TCP on loopback, bcube), whole and in",
             "chunks in turns; medians, with the least and the largest. Field notes claim 5 to 15 % more for chunks. Wall times",
             "mean little on a shared machine; compare the CPU times (rank 0, all threads).",
             f"Machine: {os.cpu_count()} cores, Linux {platform.release()}, {datetime.date.today()}, load at the start {load:.1f}.",
             "", "| elements | ranks | chunks | rounds | whole | in chunks | overhead | overhead, CPU | others used |",
             "|---|---|---|---|---|---|---|---|---|"]
    for count, unit, ranks, rounds in CASES:
        with Others() as others:
            whole, chunked, cpu_whole, cpu_chunked = measured(build, count, unit, ranks, rounds)
        over = [c / w - 1 for w, c in zip(whole, chunked)]
        cpu_over = [c / w - 1 for w, c in zip(cpu_whole, cpu_chunked)]
        lines.append(f"| {count:,} | {ranks} | {chunks_of(count, unit)} | {rounds} | "
                     f"{spread(whole, lambda s: f'{s:.3f} s')} | {spread(chunked, lambda s: f'{s:.3f} s')} | "
                     f"{spread(over, lambda o: f'{o:+.1%}')} | {spread(cpu_over, lambda o: f'{o:+.1%}')} | {others.cores:.2f} cores |")
        print(lines[-1], flush=True)
    pathlib.Path(table).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
