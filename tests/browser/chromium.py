"""Drives a headless Chromium over its DevTools pipe: no driver, no network port, no package needed.

    with Browser() as browser:
        page = browser.open("/tmp/report.html")
        page.click("#tab-trees")
        assert page.evaluate("document.title") == "..."

Everything a page logs as an error, every exception it does not catch and every address it tries to
load ends up in page.problems.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage",
         "--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb",
         "--font-render-hinting=none", "--remote-debugging-pipe"]
PROGRAMS = ["chromium", "chromium-browser", "google-chrome"]
KEYS = {"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27,
        "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33, "Tab": 9}


class BrowserError(Exception):
    pass


class Browser:
    def __init__(self, timeout=60):
        program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
        if program is None:
            raise BrowserError("no Chromium here: install Debian's package chromium")
        self.timeout = timeout
        self.profile = tempfile.TemporaryDirectory(prefix="kojak-chromium-",
                                                   ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4.
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", command, "sh", program, f"--user-data-dir={self.profile.name}", *FLAGS,
             "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._answers = {}
        self._next = 0
        self.pages = {}
        try:
            self.send("Target.getTargets")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._write)
        os.close(self._read)
        self.profile.cleanup()

    def send(self, method, parameters=None, session=None):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        wanted = self._next
        deadline = time.monotonic() + self.timeout
        while wanted not in self._answers:
            self._receive(deadline)
        answer = self._answers.pop(wanted)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer.get("result", {})

    def _receive(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._read], [], [], left)[0]:
            raise BrowserError(f"the browser did not answer within {self.timeout} s")
        data = os.read(self._read, 1 << 20)
        if not data:
            raise BrowserError("the browser has ended")
        *messages, self._buffer = (self._buffer + data).split(b"\0")
        for text in messages:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].event(message["method"], message["params"])

    def open(self, path, width=1400, height=900, dark=False, wait="complete"):
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, target)
        self.pages[session] = page
        page.start(width, height, dark)
        page.go(pathlib.Path(path).absolute().as_uri(), wait)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target
        self.problems = []
        self.loaded = []
        self.address = ""

    def send(self, method, **parameters):
        return self.browser.send(method, parameters, self.session)

    def event(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append("exception: " + details.get("exception", {}).get(
                "description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.problems.append("console: " + " ".join(str(a.get("value", a.get("description")))
                                                        for a in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append("log: " + parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            address = parameters["request"]["url"]
            if address.split("#")[0] != self.address and not address.startswith("data:"):
                self.problems.append("loads " + address)

    def start(self, width, height, dark):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.size(width, height)
        self.dark(dark)

    def size(self, width, height, scale=1):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    def dark(self, dark):
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def go(self, address, wait="complete"):
        self.address = address.split("#")[0]
        begin = time.monotonic()
        self.send("Page.navigate", url=address)
        self.until(f"document.documentElement?.dataset.state === '{wait}'"
                   if wait else "document.readyState === 'complete'")
        self.seconds = time.monotonic() - begin

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(expression + ": " + details.get("exception", {}).get(
                "description", details["text"]))
        return result["result"].get("value")

    def until(self, expression, seconds=30):
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise BrowserError(f"never came true within {seconds} s: {expression}; "
                                   f"problems: {self.problems}")
            time.sleep(0.02)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")

    def texts(self, selector):
        return self.evaluate(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")

    def count(self, selector):
        return self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def place(self, selector):
        box = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect();"
            " return [r.left, r.top, r.width, r.height]; })()")
        if box is None:
            raise BrowserError(f"no element {selector}")
        return box

    # Real input, as a person's: what is covered by something else is not hit.
    def click(self, selector, times=1):
        left, top, width, height = self.place(selector)
        self.click_at(left + width / 2, top + height / 2, times)

    def click_at(self, x, y, times=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=times)

    def move(self, x, y, button="none"):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button=button,
                  buttons=1 if button == "left" else 0)

    def drag(self, x0, y0, x1, y1, modifiers=0):
        common = {"button": "left", "modifiers": modifiers}
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=x0, y=y0, clickCount=1,
                  buttons=1, **common)
        for part in (0.3, 0.7, 1):
            self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x0 + (x1 - x0) * part,
                      y=y0 + (y1 - y0) * part, buttons=1, **common)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=x1, y=y1, clickCount=1, **common)

    def wheel(self, x, y, dy, dx=0, modifiers=0):
        self.send("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=dx, deltaY=dy,
                  modifiers=modifiers)

    def key(self, key, modifiers=0):
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        down = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        if len(key) == 1:
            down["text"] = key
        elif key == "Enter":
            down["text"] = "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", **down)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def screenshot(self, path, whole=False):
        parameters = {"format": "png", "captureBeyondViewport": whole}
        data = self.send("Page.captureScreenshot", **parameters)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.send("Target.closeTarget", {"targetId": self.target})
