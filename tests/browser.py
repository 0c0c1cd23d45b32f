"""A headless Chromium spoken to over its debugging pipe: JSON messages that end in a zero byte, no port, no library."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe"
).split()


def above_ten(end: int) -> int:
    """The end of a pipe under a number that cannot be 3 or 4, which Chromium reads from and writes to."""
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return moved


class Browser:
    def __init__(self, program: str) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        told, self.tell = map(above_ten, os.pipe())
        self.hear, heard = map(above_ten, os.pipe())
        command = [program, *FLAGS, f"--user-data-dir={self.folder.name}"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{told} 4>&{heard}', "bash", *command],
            pass_fds=(told, heard), stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(told)
        os.close(heard)
        self.number = 0
        self.left = b""
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    session: str | None = None

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.tell, json.dumps(message).encode() + b"\0")
        while (answer := self.next()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def next(self) -> dict[str, Any]:
        while b"\0" not in self.left:
            block = os.read(self.hear, 1 << 20)
            assert block, "Chromium ended"
            self.left += block
        message, _, self.left = self.left.partition(b"\0")
        return json.loads(message)

    def open(self, page: Path, fragment: str = "", width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Page.navigate", url="about:blank")
        self.events.clear()
        self.send("Page.navigate", url=page.resolve().as_uri() + fragment)
        while self.run("document.readyState") != "complete":
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36}.get(key, 0)
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def shot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.tell)
        os.close(self.hear)
        self.folder.cleanup()
