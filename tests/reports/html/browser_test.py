"""browser_test: the HTML report in a headless Chromium: of a hang, of a recovery, of 64 ranks x 10,000 calls, of
hostile names, of no rank, and the index. It looks at what is drawn, and tries clicks and keys.

usage: browser_test.py BUILD_DIR SOURCE_DIR
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import chromium

BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
# The pixels of the canvas that differ from its corner: something is drawn.
INK = """(() => {
  const canvas = document.querySelector('.lanes canvas'), ctx = canvas.getContext('2d');
  const all = ctx.getImageData(0, 0, canvas.width, canvas.height).data;
  let ink = 0;
  for (let i = 0; i < all.length; i += 4) ink += all[i + 3] !== 0;
  return ink / (canvas.width * canvas.height);
})()"""


def run(*words, **more):
    return subprocess.run(words, capture_output=True, check=False, **more)


def skip(reason):
    print(reason)
    sys.exit(77)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rankfault-pages-")
        cls.path = pathlib.Path(cls.folder.name)
        cls.browser = chromium.Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    def made(self, name, *words):
        done = run(str(BUILD / "bin/make_page"), *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.written(name, done.stdout)

    def written(self, name, page):
        self.assertLess(len(page), 20_000_001)
        path = self.path / (name + ".html")
        path.write_bytes(page)
        return path

    def of_scenario(self, scenario):
        """Runs a scenario, and returns the pages of its runs: that of the run itself is the last."""
        runs = self.path / pathlib.Path(scenario).stem
        tool = str(BUILD / "bin/rankfault")
        done = run(tool, "run", scenario, "--runs", str(runs), "--keep", "all", cwd=SOURCE)
        if done.returncode == 77:
            self.skipTest(done.stdout.decode().strip().splitlines()[-1].strip())
        self.assertEqual(done.returncode, 0, done.stdout)
        folders = sorted(str(p.parent) for p in runs.glob("*/plan.json"))
        one = run(tool, "report", "--format", "html", folders[-1])
        self.assertEqual(one.returncode, 0, one.stderr)
        both = run(tool, "report", "--format", "html", *folders)
        return self.written(runs.name, one.stdout), self.written(runs.name + "-index", both.stdout)

    def look(self, path, drawn="RF.state().drawn > 0"):
        self.browser.open(path, drawn)
        self.browser.frame()

    def state(self):
        return self.browser.evaluate("RF.state()")

    def text(self, selector):
        return self.browser.evaluate(f"(document.querySelector({selector!r}) || {{}}).innerText || ''")

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def test_a_hang_tells_its_story_and_draws_its_lanes(self):
        page, _ = self.of_scenario("scenarios/hang/skip-allreduce.yaml")
        self.look(page)
        self.assertEqual(self.text(".badge").strip(), "✓ PASS")
        self.assertIn("rank 3", self.text(".story"))
        self.assertEqual(self.state()["tracks"], 4)
        self.assertGreater(self.state()["counted"]["bars"], 8)
        self.assertGreater(self.browser.evaluate(INK), 0.05)
        self.assertIn("wait for", self.text("figure .edges"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.graph .group.blamed').length"), 1)
        self.assertIn("--seed", self.text("#replay"))
        # A click on the event that decides an expectation leads into the timeline.
        before = self.state()["view"]
        self.browser.evaluate("document.querySelector('#expectations details').open = true")
        self.browser.evaluate("document.querySelector('#expectations button.when').click()")
        self.browser.frame()
        after = self.state()["view"]
        self.assertLess(after[1] - after[0], before[1] - before[0])
        self.assertEqual(self.browser.evaluate("document.activeElement.tagName"), "CANVAS")

    def test_a_recovery_has_both_attempts_on_one_clock(self):
        page, index = self.of_scenario("scenarios/recovery/kill-and-restart.yaml")
        self.look(page)
        self.assertIn("restart", self.text(".facts .ended"))
        attempts = self.browser.evaluate("[...new Set(RF.run.lanes.map(lane => lane.attempt))].length")
        self.assertEqual(attempts, 2)
        self.assertIn("attempt 1 begins", self.text(".moments"))
        # Two runs make an index, from which each opens.
        self.look(index, "!!document.querySelector('.matrix')")
        self.assertIn("PASS", self.text(".matrix"))
        self.browser.evaluate("document.querySelector('.matrix a').click()")
        self.browser.wait("RF.state().drawn > 0")
        self.assertIn("kill-and-restart", self.text("h1"))
        self.browser.evaluate("document.querySelector('nav a').click()")
        self.browser.wait("!!document.querySelector('.matrix')")

    def test_sixty_four_ranks_with_ten_thousand_calls_stay_usable(self):
        self.look(self.made("long", "long", "64", "10000"))
        state = self.state()
        self.assertEqual((state["ranks"], state["tracks"], state["folded"]), (64, 2, True))
        self.browser.evaluate("document.querySelector('#fold').click()")
        self.browser.frame()
        self.assertEqual(self.state()["tracks"], 64)
        self.assertEqual(self.browser.evaluate("RF.run.calls + RF.run.left_out"), 64 * 10_000 - 1)
        # Calls narrower than a pixel are merged: what is drawn is bounded by the width, not by the calls.
        self.assertGreater(self.state()["counted"]["columns"], 1000)
        self.assertLess(self.state()["counted"]["columns"], 64 * 1600)
        self.keys_work()
        self.pointer_works()

    def keys_work(self):
        browser = self.browser
        browser.evaluate("document.querySelector('.lanes canvas').focus()")
        browser.press("0")
        whole = self.state()["view"]
        browser.press("ArrowDown")
        self.assertEqual(self.state()["marked"], "rank 0")
        browser.press("n")
        self.assertEqual(self.state()["selected"], "all_reduce 1")
        for _ in range(12):
            browser.press("+")
        near = self.state()["view"]
        self.assertLess(near[1] - near[0], (whole[1] - whole[0]) / 100)
        self.assertGreater(self.state()["counted"]["bars"], 0)
        browser.press("ArrowRight")
        self.assertGreater(self.state()["view"][0], near[0])
        browser.press("ArrowDown")
        self.assertEqual(self.state()["marked"], "rank 1")
        browser.press("n")
        first = self.state()["selected"]
        browser.press("n")
        second = self.state()["selected"]
        self.assertEqual(int(second.split()[-1]), int(first.split()[-1]) + 1)
        for word in ("operation", "sequence number", "float32 x 1024", "step() at train.py:12"):
            self.assertIn(word, self.state()["said"])
        browser.press("p")
        self.assertEqual(self.state()["selected"], first)
        browser.press("Escape")
        self.assertEqual(self.state()["selected"], "")
        browser.press("-")
        browser.press("0")
        self.assertEqual(self.state()["view"], whole)

    def pointer_works(self):
        browser = self.browser
        browser.evaluate("RF.timeline.setView([5e6, 5.05e6])")
        browser.evaluate("document.querySelector('.lanes canvas').scrollIntoView({block: 'center'})")
        browser.frame()
        box = browser.evaluate("(b => [b.left, b.top, b.width])(document.querySelector('.lanes canvas').getBoundingClientRect())")
        middle, lane = box[0] + box[2] / 2, box[1] + 34 + 16
        browser.mouse("mouseMoved", middle, lane)
        browser.frame()
        self.assertIn("source line", self.text(".tip"))
        browser.click(middle, lane)
        self.assertNotEqual(self.state()["selected"], "")
        before = self.state()["view"]
        browser.mouse("mousePressed", middle, lane, button="left", buttons=1, clickCount=1)
        browser.mouse("mouseMoved", middle - 200, lane, button="left", buttons=1)
        browser.mouse("mouseReleased", middle - 200, lane, button="left", clickCount=1)
        browser.frame()
        self.assertGreater(self.state()["view"][0], before[0])
        browser.mouse("mouseWheel", middle, lane, deltaX=0, deltaY=-240, modifiers=2)  # with Ctrl
        browser.frame()
        after = self.state()["view"]
        self.assertLess(after[1] - after[0], before[1] - before[0])

    def test_tab_visits_what_can_be_done_and_the_focus_is_visible(self):
        self.look(self.made("killed", "killed"))
        seen = []
        for _ in range(40):
            self.browser.press("Tab")
            seen.append(self.browser.evaluate(
                "(e => [e.tagName, e.getAttribute('aria-label') || (e.labels && e.labels[0] ? e.labels[0] : e).innerText, getComputedStyle(e).outlineStyle])(document.activeElement)"))
        tags = [tag for tag, _, _ in seen]
        for tag in ("BUTTON", "CANVAS", "g", "SUMMARY"):
            self.assertIn(tag, tags)
        for tag, name, outline in seen:
            if tag != "BODY":
                self.assertNotEqual(outline, "none", name)
                self.assertNotEqual(name, "")

    def test_runs_of_one_scenario_are_a_trend_and_each_opens(self):
        self.look(self.made("index", "index"), "!!document.querySelector('.matrix')")
        self.assertIn("1 scenario not as expected", self.text(".badge"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.trend rect').length"), 3)
        self.browser.evaluate("document.querySelector('.trend g').dispatchEvent(new Event('click'))")
        self.browser.wait("RF.state().drawn > 0")
        self.assertEqual(self.browser.evaluate("location.hash"), "#run-0")
        self.assertIn("FAIL", self.text(".badge"))

    def test_hostile_names_are_text(self):
        self.look(self.made("hostile", "hostile"))
        self.assertIn("rankfault", self.browser.evaluate("document.title"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 4)
        self.assertIn("</script><script>", self.text(".story"))
        self.browser.evaluate("RF.timeline.select(RF.timeline.layout.tracks[0], RF.timeline.layout.tracks[0].lanes[0], 0)")
        self.assertIn("<img src=x", self.state()["said"])

    def test_a_run_without_ranks_is_a_page(self):
        self.look(self.made("empty", "empty"))
        self.assertEqual(self.state()["tracks"], 0)
        for key in ("n", "ArrowDown", "+", "0"):
            self.browser.press(key)

    def test_a_thousand_ranks_are_folded_and_scrolled(self):
        self.look(self.made("many", "long", "1024", "50"))
        self.assertEqual((self.state()["ranks"], self.state()["tracks"]), (1024, 2))
        self.browser.evaluate("document.querySelector('#fold').click()")
        self.browser.frame()
        self.assertEqual(self.state()["tracks"], 1024)
        self.assertLess(self.browser.evaluate("document.querySelector('.lanes canvas').height"), 600)
        self.browser.evaluate("RF.timeline.show(1000, 1000)")
        self.browser.frame()
        self.assertEqual(self.state()["marked"], "rank 1000")

    def test_it_is_drawn_in_both_themes_and_at_small_widths(self):
        page = self.made("killed", "killed")
        for dark in (False, True):
            for width in (800, 1600):
                self.browser.size(width, 900)
                self.browser.theme(dark)
                self.look(page)
                self.assertGreater(self.browser.evaluate(INK), 0.02)
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
                back = self.browser.evaluate("getComputedStyle(document.body).backgroundColor")
                self.assertEqual(back, "rgb(20, 23, 26)" if dark else "rgb(255, 255, 255)")
        self.browser.size(1600, 1000)
        self.browser.theme(False)


def main():
    if not chromium.program():
        skip("chromium is not installed: the HTML report was not opened in a browser")
    tried = run(str(BUILD / "bin/make_page"), "killed")
    if tried.returncode == 64:
        skip(tried.stderr.decode().strip())
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)


if __name__ == "__main__":
    main()
