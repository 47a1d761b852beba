"""Does the wheel hold everything that runs, from wherever it was installed?"""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
INFO = f"waypost-{VERSION}.dist-info"


def files_below(folder: str) -> set[str]:
    """Paths relative to the checkout, of what a person would call source."""
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT)) for path in found if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    (built,) = WheelBuilder(str(ROOT)).build(
        directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"]
    )
    with zipfile.ZipFile(built) as archive:
        yield archive


@pytest.fixture(scope="module")
def wheel_names(wheel: zipfile.ZipFile) -> set[str]:
    return set(wheel.namelist())


@pytest.mark.parametrize("folder", ["templates", "static"])
def test_the_wheel_holds_every_template_and_static_file(folder: str, wheel_names: set[str]) -> None:
    expected = {f"inspector/{name}" for name in files_below(folder)}
    assert expected
    assert expected - wheel_names == set()


def test_the_wheel_holds_scripts_despite_the_ignore_file(wheel_names: set[str]) -> None:
    assert any(name.startswith("inspector/static/vendor/htmx-") for name in wheel_names)
    assert any(name.startswith("inspector/static/vendor/plotly-basic-") for name in wheel_names)


@pytest.mark.parametrize("package", ["tracer", "inspector"])
def test_the_wheel_holds_every_module_and_says_that_it_is_typed(package: str, wheel_names: set[str]) -> None:
    assert files_below(package) - wheel_names == set()
    assert f"{package}/py.typed" in wheel_names


def test_the_wheel_holds_nothing_else(wheel_names: set[str]) -> None:
    assert {name.split("/")[0] for name in wheel_names} == {"tracer", "inspector", INFO}


def test_the_wheel_gives_the_command_and_keeps_the_web_parts_optional(wheel: zipfile.ZipFile) -> None:
    assert "waypost = tracer.cli:main" in wheel.read(f"{INFO}/entry_points.txt").decode()
    needs = message_from_bytes(wheel.read(f"{INFO}/METADATA")).get_all("Requires-Dist") or []
    web = [need for need in needs if need.startswith(("flask", "plotly", "waitress"))]
    assert len(web) == 4
    assert all("extra == 'inspector'" in need for need in web)


def test_the_sdist_can_build_the_wheel_again(tmp_path: Path) -> None:
    (built,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path / "sdist"), versions=["standard"])
    with tarfile.open(built) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("waypost-*")
    (again,) = WheelBuilder(str(source)).build(directory=str(tmp_path / "wheel"), versions=["standard"])
    with zipfile.ZipFile(again) as archive:
        names = set(archive.namelist())
    assert {f"inspector/{name}" for name in files_below("static")} - names == set()
