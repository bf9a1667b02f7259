"""chromium: a headless Chromium, driven over its DevTools pipe, for tests and benchmarks of the HTML report.

No package beyond Python is needed: commands and answers are JSON, ended by a zero byte, on descriptors 3 and 4.
"""
import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def program():
    """The path of a Chromium; None: there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def above_ten(descriptor):
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Browser:
    """One browser with one page. Use it in a `with` statement."""

    def __init__(self, width=1600, height=1000, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="rankfault-chromium-")
        # Not the descriptors 3 and 4 themselves: the shell moves them there.
        to_read, self.write_end, self.read_end, to_write = (above_ten(end) for end in os.pipe() + os.pipe())
        words = [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe",
                 f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write} {to_read}<&- {to_write}>&-', "chromium", *words],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.theme(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError, RuntimeError):
            pass
        os.close(self.write_end)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise EOFError("Chromium ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def until(self, event):
        while True:
            for seen in self.events:
                if seen.get("method") == event:
                    self.events.remove(seen)
                    return seen["params"]
            self.events.append(self.receive())

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path, drawn="window.RF && RF.state().drawn > 0"):
        """Opens a file and waits until the expression holds. Returns the seconds that it took."""
        self.events.clear()
        begin = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.until("Page.loadEventFired")
        self.wait(drawn)
        return time.monotonic() - begin

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits for a state. The test's own limit ends it if the state never comes."""
        frame = "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(%s), 5)))"
        while not self.evaluate(frame % expression):
            pass

    def frame(self):
        """Lets the page draw what it has to draw."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def press(self, key, code=None):
        named = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Enter": 13, "Escape": 27}
        known = dict(key=key, code=code or key, windowsVirtualKeyCode=named.get(key, ord(key[0].upper())))
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **known, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.frame()

    def errors(self):
        """What the page threw, what its policy forbade, and each request that was not for the file itself."""
        self.evaluate("1")
        out = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                out.append(str(params["exceptionDetails"].get("exception", params["exceptionDetails"]))[:500])
            elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
                out.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:")):
                out.append("request for " + params["request"]["url"])
        return out

    def screenshot(self, path, whole=False):
        extra = {}
        if whole:
            box = self.call("Page.getLayoutMetrics")["cssContentSize"]
            extra = {"clip": {"x": 0, "y": 0, "width": box["width"], "height": min(box["height"], 8000), "scale": 1},
                     "captureBeyondViewport": True}
        picture = self.call("Page.captureScreenshot", format="png", **extra)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))
