"""Does the waypost.toml we ship name every setting, and mean nothing until somebody uncomments a line?"""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

from tracer.config import Settings, load

EXAMPLE = Path(__file__).resolve().parents[2] / "waypost.toml"


def uncommented() -> str:
    return re.sub(r"^# (?=\w+ = )", "", EXAMPLE.read_text(), flags=re.MULTILINE)


def test_the_example_names_every_setting_and_no_other() -> None:
    assert set(tomllib.loads(uncommented())) == {field.name for field in fields(Settings)}


def test_every_line_of_the_example_can_be_uncommented(tmp_path: Path) -> None:
    file = tmp_path / "waypost.toml"
    file.write_text(uncommented())
    settings = load({}, file)
    assert settings.mode == Settings().mode
    assert settings.store == Settings().store_url
    assert settings.home_path == Settings().home_path
    assert settings.lease_ttl_s == Settings().lease_ttl_s


def test_the_example_as_shipped_changes_nothing() -> None:
    assert load({}, EXAMPLE) == Settings()
