"""What do browser tests look at? Stores that killed runs wrote, served by `waypost inspect`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
WAYPOST = Path(sys.executable).with_name("waypost")


def environment(home: Path) -> dict[str, str]:
    """Nothing inherited but what a program needs; the store in *home*."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WAYPOST_", "OTEL_"))}
    return {**kept, "WAYPOST_HOME": str(home), "PYTHONPATH": str(ROOT), "OTEL_SDK_DISABLED": "true"}


def waypost(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run one command over the store in *home*."""
    command = [str(WAYPOST), *args]
    return subprocess.run(
        command, cwd=home, env=environment(home), capture_output=True, text=True, timeout=240
    )


@dataclass(slots=True)
class Served:
    """An inspector that runs."""

    home: Path
    url: str
    """Its address, without a path."""
    link: str
    """The launch link."""
    run_id: str
    """The run that the tests are about."""


def serving(home: Path, run_id: str) -> Iterator[Served]:
    """`waypost inspect` over *home* until the tests are done."""
    process = subprocess.Popen(
        [str(WAYPOST), "inspect"], cwd=home, env=environment(home), stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "/launch/" in line, f"waypost inspect said {line!r}"
        link = line.split()[-1]
        yield Served(home, link.split("/launch/")[0], link, run_id)
    finally:
        process.terminate()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a demo run that was killed with SIGKILL, resumed, and waits for a person."""
    home = tmp_path_factory.mktemp("demo")
    done = waypost(home, "demo", "--no-serve")
    assert done.returncode == 0, done.stderr[-2000:]
    (home / "result.json").write_text(done.stdout.strip().splitlines()[-1], "utf-8")
    return home


@pytest.fixture(scope="session")
def demo(demo_home: Path) -> Iterator[Served]:
    """An inspector over the demo's store, for tests that only look."""
    run_id = json.loads((demo_home / "result.json").read_text("utf-8"))["run_id"]
    yield from serving(demo_home, run_id)


@pytest.fixture
def own(demo_home: Path, tmp_path: Path) -> Iterator[Served]:
    """An inspector over a copy of it, for tests that decide."""
    home = Path(shutil.copytree(demo_home, tmp_path / "home"))
    run_id = json.loads((home / "result.json").read_text("utf-8"))["run_id"]
    yield from serving(home, run_id)


PROGRAM = """
import sys
from tracer import KEY, Run, State, agent, read, run, write

HOSTILE = ("<script>document.title='taken'</script><img src=x onerror=\\"document.title='taken'\\">"
           "<b hx-get='/taken' hx-trigger='load' hx-on:load=\\"document.title='taken'\\">x</b>"
           "</pre></script><svg onload=document.title='taken'> \\u202egnp.exe\\u202c a\\u200bb \\x1b[31m")

class Crawl(State, version=1):
    todo: list[int]
    pages: list[dict[str, str]]

@read
def look(n: int) -> str:
    return HOSTILE

@write(key_param="key", identity=("n",))
def post(n: int, text: str, *, key: str = KEY) -> str:
    return HOSTILE

@agent("crawler", plan="1", objective="Crawl " + HOSTILE)
def crawl(r: Run, state: Crawl) -> Crawl:
    for n in r.each(state.todo, step=HOSTILE[:40]):
        state.pages.append({"role": "tool", "content": look(n)})
        post(n, HOSTILE)
    return state

if sys.argv[1] == "hostile":
    crawl.start_or_resume("hostile", Crawl(todo=list(range(6)), pages=[]))
else:
    with run("counter", id=sys.argv[1], objective="Count to many") as r:
        for n in range(int(sys.argv[2])):
            r.state["n"] = n
            r.checkpoint(("plan", "scan", "rank")[n // 5 % 3])
"""


def program(home: Path, *args: str) -> None:
    """Run the agents above over the store in *home*."""
    file = home / "program.py"
    file.write_text(PROGRAM, "utf-8")
    command = [sys.executable, str(file), *args]
    done = subprocess.run(
        command, cwd=home, env=environment(home), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An inspector over a run whose every text is hostile."""
    home = tmp_path_factory.mktemp("hostile")
    program(home, "hostile")
    yield from serving(home, "hostile")


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An inspector over a run of 5,000 checkpoints."""
    home = tmp_path_factory.mktemp("long")
    program(home, "long", "5000")
    yield from serving(home, "long")


@pytest.fixture
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A desk, not a phone."""
    return {**browser_context_args, "viewport": {"width": 1440, "height": 1000}}


_sessions: dict[str, Any] = {}


def enter(browser: Browser, served: Served, **options: Any) -> Page:
    """A page inside *served*; the first caller uses the launch link up, later ones share its cookie."""
    if served.link not in _sessions:
        context = browser.new_context()
        page = context.new_page()
        page.goto(served.link)
        page.get_by_label("Name").fill("maya.t")
        page.get_by_role("button", name="Open the inspector").click()
        page.wait_for_url(f"{served.url}/")
        _sessions[served.link] = context.storage_state()
        context.close()
    options = {"viewport": {"width": 1440, "height": 1000}, **options}
    context = browser.new_context(storage_state=_sessions[served.link], base_url=served.url, **options)
    page = context.new_page()
    page.set_default_timeout(15_000)
    return page
