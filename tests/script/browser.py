"""A headless Chromium that opens files, over the pipe of its DevTools: what a page says, shows and asks for."""

import base64
import json
import os
import shutil
import subprocess
import tempfile


def program():
    """The path of a Chromium on this machine; None: there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One page. `complaints` holds what its console said and what it threw, `requests` the addresses it asked for."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        said, self.into = os.pipe()
        self.out, answer = os.pipe()
        # The browser reads from descriptor 3 and writes to descriptor 4.
        command = [
            "sh",
            "-c",
            f'exec "$0" "$@" 3<&{said} 4>&{answer}',
            program(),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--disable-background-networking",
            f"--user-data-dir={self.profile.name}",
            "about:blank",
        ]
        self.process = subprocess.Popen(
            command, pass_fds=(said, answer), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(said)
        os.close(answer)
        self.count, self.rest, self.complaints, self.requests, self.loaded = 0, b"", [], [], False
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.into)
        os.close(self.out)
        self.profile.cleanup()

    def read(self):
        while b"\0" not in self.rest:
            block = os.read(self.out, 1 << 20)
            if not block:
                raise SystemExit("the browser ended")
            self.rest += block
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(given["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(
                given["exceptionDetails"].get("exception", {}).get("description", str(given))
            )
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True
        return message

    def call(self, method, **given):
        self.count += 1
        message = {"id": self.count, "method": method, "params": given}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.into, data) :]
        number = self.count
        while True:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, path, fragment=""):
        """Open a file, and wait until it is loaded."""
        self.loaded = False
        self.call("Page.navigate", url="about:blank")
        while not self.loaded:
            self.read()
        self.loaded, self.requests = False, []
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{fragment}")
        while not self.loaded:
            self.read()

    def run(self, script):
        """What a JavaScript expression gives, as data."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(answer["exceptionDetails"]["exception"].get("description", str(answer)))
        return answer["result"].get("value")

    def key(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def look(self, path, width=1000, height=1400, dark=False, whole=True):
        """Save a picture of the page."""
        self.size(width, height, dark)
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))

    def size(self, width, height, dark=False):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
