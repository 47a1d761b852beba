"""`waypost` itself, `demo` and `inspect`: what starts, and what is said when it cannot?"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tracer.cli import COMMANDS
from tracer.commands import demo

SCRIPT = str(Path(sys.executable).with_name("waypost"))
RECORD = {
    "run_id", "checkpoints", "segments", "killed_exit", "duplicated_effects", "missing_effects", "events_exported",
    "events_distinct", "store_bytes", "verdict", "report_equal",
}  # fmt: skip


def test_the_console_script_starts_and_lists_every_command(tmp_path: Path) -> None:
    life = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True, timeout=60, check=True)
    for name in (*COMMANDS, "inspect"):
        assert f"\n  {name} " in life.stdout
    assert subprocess.run(
        [SCRIPT, "--version"], capture_output=True, timeout=60, check=True
    ).stdout.startswith(b"waypost, ")


def test_every_command_explains_itself_and_takes_json(cli: Cli) -> None:
    for name in (*COMMANDS, "inspect"):
        shown = cli(*(("db", "upgrade") if name == "db" else (name,)), "--help")
        assert shown.code == 0
        assert "--json" in shown.out, name


@pytest.mark.kill
@pytest.mark.slow
def test_the_demo_kills_a_real_agent_and_everything_holds(tmp_path: Path) -> None:
    done = subprocess.run(
        [SCRIPT, "demo", "--no-serve", "--approve", "--seed", "3"],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout.splitlines()[-1])
    assert set(record) == RECORD
    assert (record["killed_exit"], record["duplicated_effects"], record["missing_effects"]) == (-9, 0, 0)
    assert record["report_equal"] is True
    shown = subprocess.run(
        [SCRIPT, "why", record["run_id"]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "it is over" in shown.stdout


def test_the_demo_says_that_it_needs_a_checkout(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "__file__", str(tmp_path / "site-packages/tracer/commands/demo.py"))
    done = cli("demo")
    assert done.code == 2
    assert "needs a checkout of Waypost" in done.err
    assert done.err.count("\n") == 1


def test_the_demo_refuses_an_interpreter_that_is_none(cli: Cli) -> None:
    done = cli("demo", "--no-serve", "--python", "/nowhere/python3")
    assert done.code == 2
    assert "/nowhere/python3" in done.err


@pytest.mark.kill
def test_inspect_serves_on_loopback_and_prints_the_link_that_opens_it(store: Path) -> None:
    server = subprocess.Popen(
        [SCRIPT, "inspect", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )  # fmt: skip
    try:
        assert server.stdout is not None
        link = json.loads(server.stdout.readline())["url"]
        assert link.startswith("http://127.0.0.1:")
        assert opened(link) == 200
        assert opened(link.partition("/launch/")[0] + "/") == 401, "nobody gets in without the link"
    finally:
        server.terminate()
        server.wait(20)
        if server.stdout is not None:
            server.stdout.close()


def opened(url: str) -> int:
    until = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except urllib.error.URLError:
            if time.monotonic() > until:
                raise


def test_inspect_without_a_store_says_so(cli: Cli) -> None:
    done = cli("inspect")
    assert done.code == 6
    assert "There is no store here" in done.err


def test_inspect_beyond_loopback_is_refused(cli: Cli, tmp_path: Path) -> None:
    done = cli("inspect", "--host", "0.0.0.0")
    assert done.code == 2
    assert "without asking who is there" in done.err


@pytest.mark.parametrize("missing", ["flask", "plotly", "waitress"])
def test_inspect_without_its_extra_prints_the_line_that_installs_it(missing: str, tmp_path: Path) -> None:
    life = without([missing], "inspect", "--port", "4701")
    assert life.returncode == 2
    assert without([missing], "--help").returncode == 0
    assert f"needs {missing}" in life.stderr
    assert 'pip install "waypost[inspector]"' in life.stderr
    assert life.stderr.count("\n") == 1


def test_reading_commands_need_no_web_packages(tmp_path: Path) -> None:
    life = without(["flask", "plotly", "waitress", "wtforms"], "doctor", "--no-network")
    assert life.returncode == 0, life.stderr


def without(packages: list[str], *args: str) -> subprocess.CompletedProcess[str]:
    """`waypost` in a process where *packages* cannot be imported."""
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
from tracer.cli import main
sys.argv = ["waypost", *{args!r}]
main()
"""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
