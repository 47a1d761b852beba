"""Does the demo, as people start it, hold what it says, and leave a run that a person can take on?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KEYS = {
    "run_id",
    "checkpoints",
    "segments",
    "killed_exit",
    "duplicated_effects",
    "missing_effects",
    "events_exported",
    "events_distinct",
    "store_bytes",
    "verdict",
    "report_equal",
}


def demo(root: Path, home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples.licence_audit.harness", "--home", str(home), *options]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.kill
@pytest.mark.slow
def test_the_demo_prints_one_record_and_everything_in_it_holds(root: Path, tmp_path: Path) -> None:
    done = demo(root, tmp_path, "--approve", "--seed", "7")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout.splitlines()[-1])
    assert set(record) == KEYS
    assert (record["killed_exit"], record["verdict"], record["report_equal"]) == (-9, "continue", True)
    assert (record["duplicated_effects"], record["missing_effects"]) == (0, 0)
    assert record["events_distinct"] == record["checkpoints"] <= record["events_exported"]
    assert (tmp_path / "demo" / record["run_id"] / "report.md").read_text().startswith("# Licence audit")


@pytest.mark.kill
@pytest.mark.slow
def test_without_approval_the_printed_lines_take_the_run_to_its_end(root: Path, tmp_path: Path) -> None:
    done = demo(root, tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout.splitlines()[-1])
    assert record["report_equal"] is None
    report = tmp_path / "demo" / record["run_id"] / "report.md"
    assert not report.exists()
    lines = [line for line in done.stderr.splitlines() if "waypost " in line and record["run_id"] in line]
    assert [line.split("waypost ")[1].split()[0] for line in lines] == ["approve", "resume"]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    for line in lines:
        subprocess.run(line, shell=True, cwd=root, env={"PATH": path}, timeout=120, check=True)
    assert report.read_bytes() == (report.parent / "never-killed" / "report.md").read_bytes()


def test_an_environment_with_too_few_problems_is_refused(root: Path, tmp_path: Path) -> None:
    done = demo(root, tmp_path, "--only", "pytest")
    assert done.returncode != 0
    assert "need 8" in done.stderr
