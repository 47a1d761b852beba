"""Are the keys made once, kept from others, and named when they are missing?"""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tracer.errors import ConfigError, KeyMissing, KeyUnsafe
from tracer.keys import Keys
from tracer.seal import Vault


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "folder" / "keys.json"


def test_the_first_use_makes_a_file_that_only_its_owner_reads(file: Path) -> None:
    old = os.umask(0)
    try:
        made = Keys.load_or_create(file)
    finally:
        os.umask(old)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["keys.json"]
    assert Keys.load(file) == Keys.load_or_create(str(file)) == made
    assert len({made.fingerprint, made.digest, made.encryption[1]}) == 3


def test_of_many_who_make_the_file_at_once_all_use_the_winners(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: Keys.load_or_create(file), range(32)))
    assert made == [made[0]] * 32
    assert [each.name for each in file.parent.iterdir()] == ["keys.json"]


def test_a_missing_file_is_named_and_not_made(file: Path) -> None:
    with pytest.raises(KeyMissing, match=str(file)) as missing:
        Keys.load(file)
    assert missing.value.where == str(file)
    assert not file.exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o622])
def test_a_file_that_others_can_read_is_refused_with_the_remedy(file: Path, mode: int) -> None:
    Keys.load_or_create(file)
    file.chmod(mode)
    for load in (Keys.load, Keys.load_or_create):
        with pytest.raises(KeyUnsafe, match=f"has mode {mode:04o}. Run `chmod 600 {file}`"):
            load(file)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"waypost-keys": 1}', '{"waypost-keys": 1, "fingerprint": "QQ==", "digest": 5}'],
)
def test_a_file_of_something_else_is_refused_without_quoting_it(file: Path, content: str) -> None:
    Keys.load_or_create(file)
    file.write_text(content)
    with pytest.raises(ConfigError, match=f"{len(content)} bytes") as refused:
        Keys.load(file)
    assert refused.value.__cause__ is None


def test_a_newer_format_is_named(file: Path) -> None:
    Keys.load_or_create(file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "waypost-keys": 2}))
    with pytest.raises(ConfigError, match="key format 2, this package reads 1"):
        Keys.load(file)


def test_a_file_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="Not a directory"):
        Keys.load_or_create(tmp_path / "file" / "keys.json")


def test_rotation_adds_a_key_and_what_was_sealed_stays_readable(file: Path) -> None:
    first = Keys.load_or_create(file)
    vault = Vault(first)
    vault.seal_text("before", "password")
    (sealed,) = vault.pending()
    second = first.rotated()
    third = first.rotated()  # from a stale object: the file decides
    assert (second.current, third.current) == (2, 3)
    assert Keys.load(file) == third
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Vault(third).open(sealed.fingerprint, sealed.blob) == "before"
    assert Vault(third).fingerprint("x") == vault.fingerprint("x")
    assert third.arg_digest(b"x") == first.arg_digest(b"x")


def test_a_rotation_under_way_is_not_overtaken(file: Path) -> None:
    keys = Keys.load_or_create(file)
    lock = file.with_name("keys.json.lock")
    lock.touch()
    with pytest.raises(ConfigError, match=f"remove {lock}"):
        keys.rotated()
    assert Keys.load(file) == keys


def test_digests_of_arguments_depend_on_the_key() -> None:
    one, other = Keys.generate(), Keys.generate()
    assert one.arg_digest(b'{"pin":"483920"}') != other.arg_digest(b'{"pin":"483920"}')
    assert len(one.arg_digest(b"")) == 32


def test_keys_do_not_show_themselves() -> None:
    keys = Keys.generate()
    assert keys.digest.hex() not in repr(keys)
    assert repr(keys.digest) not in repr(keys)
