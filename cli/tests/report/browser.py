"""A browser without a screen, spoken to through a pipe (Chrome DevTools Protocol), with Python's own library only."""

import json
import os
import shutil
import subprocess
import sys


def installed():
    """The command of the browser on this machine. Without one it is None, and standard error says what was not tested."""
    commands = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    command = next(filter(None, commands), None)
    if command is None:
        print("gap: Chromium is not here, so no page was opened (Debian: chromium)", file=sys.stderr)
    return command


class Browser:
    """One window. `messages` is what pages said on the console, and what went wrong in their scripts."""

    def __init__(self, command, profile):
        from_us, self._writer = os.pipe()
        self._reader, from_it = os.pipe()
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
            "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={profile}",
        ]

        def place():
            # The browser reads at 3 and writes at 4.
            ends = [os.dup(from_us), os.dup(from_it)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            [command, *arguments], preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(from_us)
        os.close(from_it)
        self._rest, self._number, self._session, self.messages = b"", 0, None, []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, path, width=1240, height=1200, is_dark=False, has_forced_colours=False):
        self.messages.clear()
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        theme = "dark" if is_dark else "light"
        self._call("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "forced-colors", "value": "active" if has_forced_colours else "none"},
        ])
        self._call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        while not self.run("document.readyState === 'complete' && location.href !== 'about:blank'"):
            pass
        self.settle()

    def settle(self):
        """Waits until the page has drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def run(self, script):
        """Returns the value of a script."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def drag(self, start, end):
        self._mouse("mousePressed", start)
        self._mouse("mouseMoved", ((start[0] + end[0]) / 2, start[1]))
        self._mouse("mouseMoved", end)
        self._mouse("mouseReleased", end)
        self.settle()

    def tap(self, place):
        self._call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": place[0], "y": place[1]}])
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def print(self):
        """Shows the page as it would be printed, until another is opened."""
        self._call("Emulation.setEmulatedMedia", media="print")
        self.settle()

    def hover(self, place):
        self._mouse("mouseMoved", place, "none")
        self.settle()

    def drop(self, place, paths):
        """Drops files on a place."""
        data = {"items": [], "files": [os.path.abspath(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self._call("Input.dispatchDragEvent", type=kind, x=place[0], y=place[1], data=data)

    def choose(self, selector, paths):
        """Chooses files in an element of the page, as its dialogue does."""
        root = self._call("DOM.getDocument")["root"]["nodeId"]
        node = self._call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self._call("DOM.setFileInputFiles", nodeId=node, files=[os.path.abspath(path) for path in paths])

    def save_in(self, folder):
        """Saves what pages give to be saved in a folder, without a question."""
        self._call("Browser.setDownloadBehavior", behavior="allow", downloadPath=os.path.abspath(folder))

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if kind == "keyDown" and len(key) == 1 else {}))
        self.settle()

    def screenshot(self, path):
        import base64

        image = self._call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def close(self):
        try:
            self._call("Browser.close")
        finally:
            self._process.wait(timeout=20)
            os.close(self._writer)
            os.close(self._reader)

    def _mouse(self, kind, place, button="left"):
        buttons = 0 if button == "none" else 1
        self._call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button=button, buttons=buttons, clickCount=1)

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self):
        while b"\0" not in self._rest:
            piece = os.read(self._reader, 1 << 16)
            if not piece:
                raise AssertionError("the browser has ended")
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.messages.append(parameters)
        elif event.get("method") == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "blob:")):
                self.messages.append({"request": url})
