"""A headless Chromium in which tests look at pages; commands and answers go through pipes."""

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import pytest


class Browser:
    """A running Chromium; `events` holds what its pages reported, requested and failed to do."""

    def __init__(self, profile: Path) -> None:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            pytest.skip("Chromium is not installed")
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", f"--user-data-dir={profile}",
        ]  # fmt: skip
        # Chromium reads commands from descriptor 3 and answers on 4.
        redirected = f'exec "$@" 3<&{commands} 4>&{answers}'
        self._process = subprocess.Popen(
            ["bash", "-c", redirected, "bash", program, *options],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._last, self._read = 0, b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)
        os.close(self._to)
        os.close(self._from)

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """Errors of the page that was opened last, and whatever it wrote to the console."""
        said = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event for event in self.events if event["method"] in said]

    @property
    def requests(self) -> list[str]:
        """The addresses that the page that was opened last has asked for."""
        asked = (event for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in asked]

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._last:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def wait_for(self, method: str, session: str) -> None:
        while not any(
            (event["method"], event.get("sessionId")) == (method, session) for event in self.events
        ):
            self.events.append(self._next())

    def open(self, address: str, *, width: int, dark: bool = False) -> "Page":
        self.events.clear()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session)
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", session, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", session, features=[scheme])
        self.call("Page.navigate", session, url=address)
        self.wait_for("Page.loadEventFired", session)
        return Page(self, session)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + 60
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._from], [], [], max(0, end - time.monotonic()))
            read = os.read(self._from, 1 << 20) if ready else b""
            assert read, "Chromium says nothing"
            self._read += read
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)


class Page:
    """An open page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self._browser.call(
            "Runtime.evaluate", self._session, expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def pdf(self) -> str:
        """Return the page as it would be printed: a PDF in Base64."""
        return self._browser.call("Page.printToPDF", self._session)["data"]

    def press(self, key: str) -> None:
        """Press a key that types nothing, such as Tab, or Enter."""
        code, text = {"Tab": (9, ""), "Enter": (13, "\r")}[key]
        about = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        down = {**about, "text": text} if text else about
        self._browser.call("Input.dispatchKeyEvent", self._session, type="keyDown", **down)
        self._browser.call("Input.dispatchKeyEvent", self._session, type="keyUp", **about)
