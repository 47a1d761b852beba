"""Which files count as evidence, and what is kept of them?"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from examples.licence_audit import evidence
from examples.licence_audit.errors import InterpreterUnusable
from examples.licence_audit.evidence import shown_by
from examples.licence_audit.inventory import distributions_of
from examples.licence_audit.texts import facts_of
from tests.licence_audit.conftest import MIT, Install


def test_every_file_read_is_kept_with_its_digest_size_and_time(install: Install) -> None:
    dist = install("License-File: LICENSE\n", {"licenses/LICENSE": MIT, "licenses/AUTHORS": "Ada"})
    records = {record.path: record for record in shown_by(dist).records}
    assert {path: record.kind for path, record in records.items()} == {
        "thing-1.0.dist-info/METADATA": "metadata",
        "thing-1.0.dist-info/licenses/AUTHORS": "beside",
        "thing-1.0.dist-info/licenses/LICENSE": "licence",
    }
    kept, file = records["thing-1.0.dist-info/licenses/LICENSE"], Path(dist.where, "licenses/LICENSE")
    assert kept.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (kept.size, kept.mtime_ns) == (file.stat().st_size, file.stat().st_mtime_ns)
    assert kept.version == "1.0"


def test_a_licence_inside_the_package_counts_when_the_metadata_folder_has_none(install: Install) -> None:
    shown = shown_by(install(beside={"thing/LICENSE": MIT, "thing/_vendor/other/LICENSE": MIT}))
    assert [path for path, _ in shown.texts] == ["thing/LICENSE"]


def test_paths_of_a_record_never_lead_outside(install: Install, tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text(MIT)
    shown = shown_by(install("License-File: ../../LICENSE\n", beside={"../LICENSE": MIT}))
    assert shown.texts == ()
    assert shown.absent == ("../../LICENSE",)


def test_a_file_over_the_limit_is_said_to_be_unread(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    dist = install(files={"LICENSE": MIT + "x" * 2_000})
    monkeypatch.setattr(evidence, "MAX_BYTES", 1_000)
    assert shown_by(dist).unread == ("thing-1.0.dist-info/LICENSE",)


@pytest.mark.parametrize(
    ("line", "named", "blank"),
    [
        ("Copyright (c) 2020 Ada", True, False),
        ("# Copyright: Ada", True, False),
        ("© 2020 Ada", True, False),
        ("Copyright (c) <year> <copyright holders>", False, True),
        ("Copyright [yyyy] [name of copyright owner]", False, True),
        ("copyright notice and this permission notice shall be kept", False, False),
        ("COPYRIGHT HOLDERS AND CONTRIBUTORS", False, False),
    ],
)
def test_a_copyright_line_names_somebody(line: str, named: bool, blank: bool) -> None:
    facts = facts_of(line)
    assert (facts.named_holder, facts.placeholder) == (named, blank)


def test_this_interpreter_and_itself_as_another_agree() -> None:
    # A copy of the path that is not recognised as this one, so that it really is asked.
    other = str(
        Path(sys.executable).parent
        / "."
        / ".."
        / Path(sys.executable).parent.name
        / Path(sys.executable).name
    )
    here, asked = distributions_of(), distributions_of(other)
    assert here
    assert {d.name for d in here} == {d.name for d in asked}


def test_the_list_is_narrowed_by_name_and_length() -> None:
    everything = distributions_of()
    assert distributions_of(only=["PyTest"])[0].name == "pytest"
    assert distributions_of(limit=3) == everything[:3]


@pytest.mark.parametrize("python", ["/nonexistent/python", "/bin/false", "/bin/true"])
def test_what_is_no_python_is_named(python: str) -> None:
    with pytest.raises(InterpreterUnusable, match=python):
        distributions_of(python)
