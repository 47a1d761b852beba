"""Is it noticed when another distribution puts its files over ours?"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from tracer.ownership import clashes


def install(site: Path, name: str, files: dict[str, str], *, top_level: str = "") -> Path:
    """A distribution as an installer leaves it: its files, and a record of them."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    if top_level:
        (info / "top_level.txt").write_text(top_level)
    lines = []
    for path, content in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    (info / "RECORD").write_text("".join(lines))
    return site


def test_alone_there_is_no_clash(tmp_path: Path) -> None:
    install(tmp_path, "waypost", {"tracer/__init__.py": "ours", "inspector/__init__.py": "ours"})
    assert clashes([str(tmp_path)]) == []


@pytest.mark.parametrize("package", ["tracer", "inspector"])
def test_a_project_of_the_same_package_name_is_named_with_its_remedy(package: str, tmp_path: Path) -> None:
    install(tmp_path, "waypost", {f"{package}/__init__.py": "ours"})
    install(tmp_path, package, {f"{package}/other.py": "theirs"}, top_level=package)
    (clash,) = clashes([str(tmp_path)])
    assert (clash.package, clash.owner) == (package, package)
    assert f"pip uninstall {package}" in clash.remedy


def test_a_module_file_or_a_bare_top_level_is_enough(tmp_path: Path) -> None:
    install(tmp_path, "one", {"tracer.py": "theirs"})
    install(tmp_path, "two", {}, top_level="inspector\nother")
    assert {(clash.package, clash.owner) for clash in clashes([str(tmp_path)])} == {
        ("tracer", "one"),
        ("inspector", "two"),
    }


def test_files_written_over_ours_are_noticed_even_when_the_other_is_gone(tmp_path: Path) -> None:
    install(tmp_path, "waypost", {"tracer/__init__.py": "ours", "tracer/run.py": "ours"})
    (tmp_path / "tracer/__init__.py").write_text("theirs")
    (clash,) = clashes([str(tmp_path)])
    assert clash.what == "1 files of `tracer` are not as installed, such as tracer/__init__.py."
    (tmp_path / "tracer/run.py").unlink()
    assert "2 files" in clashes([str(tmp_path)])[0].what


def test_nothing_clashes_in_the_environment_of_these_tests() -> None:
    assert clashes() == []
