#!/usr/bin/env python3
"""page_bench.py BUILD PAGE [--times N]: measures how long the HTML report takes to open in Chromium.

Made runs of 4 to 1,024 ranks (tests/reports/html/make_page.cc). Opening counts from the navigation to the first
drawn timeline. A frame is one redraw of the whole run after a scroll, with every rank in its own lane. Target: 64 ranks x 10,000
calls open in 2 s.
"""
import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "reports" / "html"))
import chromium  # noqa: E402

RUNS = [(4, 1_000), (64, 1_000), (64, 10_000), (1_024, 10_000)]
HEAD = """# The HTML report in a browser

Written by `./dev bench report-page` (`bench/report_page/page_bench.py`). Machine: {machine}; {browser}, headless, without a
GPU; build {build}; {day}; load at the start {load:.1f}.

Made runs. *Opening* is from the navigation to the first drawn timeline, median and longest of {times}. *Frame* is one redraw
of the whole run after a scroll, with each rank in its own lane. The first opening also warms up the browser. Target: 64 ranks x 10,000 calls open in 2 s.

| ranks x calls | calls in the page | file | made and written in | opening, median | opening, longest | frame |
|---|---|---|---|---|---|---|
{rows}
"""
FRAMES = """(async () => {
  if (RF.timeline.layout.folded) RF.timeline.fold(false);
  const times = [];
  for (let i = 0; i < 20; ++i) {
    await new Promise(requestAnimationFrame);
    const begin = performance.now();
    RF.timeline.scrollBy(i % 2 ? -40 : 40);
    RF.drawLanes(RF.timeline);
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[10];
})()"""


def measure(build, ranks, calls, times):
    with tempfile.TemporaryDirectory(prefix="rfpage-") as folder:
        path = pathlib.Path(folder, "page.html")
        begin = time.monotonic()
        with path.open("wb") as file:
            subprocess.run([f"{build}/bin/make_page", "long", str(ranks), str(calls)], stdout=file, check=True)
        wrote = time.monotonic() - begin
        with chromium.Browser() as browser:
            opened = [browser.open(path) for _ in range(times)]
            kept = browser.evaluate("RF.run.calls")
            frame = browser.evaluate(FRAMES)
            if errors := browser.errors():
                sys.exit(f"the page has errors: {errors}")
        return (f"| {ranks:,} x {calls:,} | {kept:,} | {path.stat().st_size / 1e6:.1f} MB | {wrote:.1f} s | "
                f"{statistics.median(opened):.2f} s | {max(opened):.2f} s | {frame:.0f} ms |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("page")
    parser.add_argument("--times", type=int, default=5)
    args = parser.parse_args()
    if not chromium.program():
        sys.exit("chromium is not installed: apt-get install chromium")
    load = os.getloadavg()[0]
    browser = subprocess.run([chromium.program(), "--version"], capture_output=True, text=True, check=False).stdout
    rows = [measure(args.build, ranks, calls, args.times) for ranks, calls in RUNS]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}"
    pathlib.Path(args.page).write_text(HEAD.format(
        machine=machine, browser=" ".join(browser.split()[:2]), build=pathlib.Path(args.build).name,
        day=datetime.date.today(), load=load, times=args.times, rows="\n".join(rows)), encoding="utf-8")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
