"""How do the pages look? Runs the demo, kills it as it does, and pictures every page of what it left.

Usage: python scripts/screenshots.py [PYTHON [FOLDER]]

PYTHON is the interpreter whose environment is audited, this one by default: the pages name its paths. FOLDER is
docs/screens by default. Needs Chromium, see scripts/chromium.sh.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, sync_playwright

ROOT: Final = Path(__file__).resolve().parents[1]
WAYPOST: Final = Path(sys.executable).with_name("waypost")
CHROMIUM: Final = os.environ.get("CHROMIUM", "/usr/bin/chromium")
DESK: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 1000}}
PHONE: Final[dict[str, Any]] = {"viewport": {"width": 360, "height": 800}, "device_scale_factor": 2}

Shots = tuple[tuple[str, str, dict[str, Any]], ...]
"""(name of the picture, address, options of the browser)."""
SHOTS: Final[Shots] = (
    ("runs-light", "/", DESK),
    ("run-light", "/runs/{run}", DESK),
    ("run-dark", "/runs/{run}?c=14", {**DESK, "color_scheme": "dark"}),
    ("run-clock-light", "/runs/{run}?axis=clock", DESK),
    ("run-360", "/runs/{run}", PHONE),
    ("checkpoint-light", "/runs/{run}/c/14", DESK),
    ("diff-light", "/runs/{run}/diff/13...16", DESK),
    ("diff-dark", "/runs/{run}/diff/13...16?layout=unified", {**DESK, "color_scheme": "dark"}),
    ("resume-light", "/runs/{run}/resumes/1", DESK),
    ("calls-light", "/runs/{run}/calls?kind=write", DESK),
    ("call-light", "/runs/{run}/calls/4", DESK),
    ("inbox-light", "/inbox", DESK),
    ("inbox-360", "/inbox", PHONE),
)


ASTRAY: Final[Shots] = (
    ("divergence-light", "/runs/{run}/divergence", DESK),
    ("divergence-dark", "/runs/{run}/divergence", {**DESK, "color_scheme": "dark"}),
    ("divergence-360", "/runs/{run}/divergence", PHONE),
    ("alerts-light", "/alerts", DESK),
    ("compare-light", "/compare/{run}-never-killed...{run}", DESK),
)
"""Of a run whose resumed life opened a ticket for the wrong distribution."""


def main(python: str, folder: Path) -> None:
    """Picture every page into *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    _demo(python, folder, SHOTS)
    _demo(python, folder, ASTRAY, "--diverge")


def _demo(python: str, folder: Path, shots: Shots, *options: str) -> None:
    with tempfile.TemporaryDirectory(prefix="waypost-") as home:
        env = {**os.environ, "WAYPOST_HOME": home}
        done = subprocess.run(
            [str(WAYPOST), "demo", "--no-serve", "--python", python, *options],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        run_id = json.loads(done.stdout.strip().splitlines()[-1])["run_id"]
        serving = subprocess.Popen(
            [str(WAYPOST), "inspect"], cwd=home, env=env, stdout=subprocess.PIPE, text=True
        )
        try:
            assert serving.stdout is not None
            link = serving.stdout.readline().split()[-1]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
                )
                _picture(browser, link, run_id, folder, shots)
                browser.close()
        finally:
            serving.terminate()
            serving.wait(10)


def _picture(browser: Browser, link: str, run_id: str, folder: Path, shots: Shots) -> None:
    first = browser.new_context(**DESK)
    page = first.new_page()
    page.goto(link)
    page.screenshot(path=folder / "launch-light.png")
    page.get_by_label("Name").fill("maya.t")
    page.get_by_role("button", name="Open the inspector").click()
    session: Any = first.storage_state()
    for name, address, options in shots:
        context = browser.new_context(storage_state=session, base_url=link.split("/launch/")[0], **options)
        page = context.new_page()
        page.goto(address.format(run=run_id))
        if page.locator("plotly-figure").count():
            page.wait_for_selector("plotly-figure .main-svg")
        page.screenshot(path=folder / f"{name}.png", full_page=options is PHONE)
        context.close()
        print(name)


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        given[0] if given else sys.executable, Path(given[1]) if len(given) > 1 else ROOT / "docs" / "screens"
    )
