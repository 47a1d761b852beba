"""Would compose accept the file we ship, and does it open nothing to other machines?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = Path(sysconfig.get_path("scripts")) / "docker-compose"


def config(folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Compose's own reading of the file, without an engine."""
    return subprocess.run(
        [COMPOSE, "-f", folder / "docker-compose.yml", "--profile", "*", "config", "--format", "json"],
        env={"PATH": os.defpath, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def services(tmp_path: Path) -> dict[str, Any]:
    done = config(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads(done.stdout)["services"]
    return read


def test_compose_accepts_the_file(services: dict[str, Any]) -> None:
    assert set(services) == {"inspector", "jaeger", "postgres"}


def test_every_published_port_is_on_loopback(services: dict[str, Any]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert len(ports) == 4
    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}
    assert services["inspector"]["network_mode"] == "host"


def test_compose_refuses_a_misspelt_key(tmp_path: Path) -> None:
    shutil.copy(ROOT / "docker-compose.yml", tmp_path)
    with (tmp_path / "docker-compose.yml").open("a") as file:
        file.write("\nservice: {}\n")
    done = config(tmp_path, tmp_path)
    assert done.returncode != 0
    assert "service" in done.stderr


def test_the_image_copies_only_what_the_ignore_file_lets_through() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = {
        name
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert copied == {line.removeprefix("!") for line in ignored if line.startswith("!")}
