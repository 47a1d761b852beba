"""Which setting holds, and what is said of one that does not fit?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tracer import config
from tracer.config import Settings
from tracer.errors import ConfigError


def test_arguments_go_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    file = tmp_path / "waypost.toml"
    file.write_text('environment = "staging"\nlease_ttl_s = 5\nprincipal = "file"\n', "utf-8")
    held = config.load({"WAYPOST_LEASE_TTL_S": "7", "WAYPOST_SEAL": "off"}, file)
    held = config.override(held, principal="argument")
    assert (held.environment, held.lease_ttl_s, held.principal, held.seal) == ("staging", 7.0, "argument", False)
    assert held.mode == Settings().mode


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"WAYPOST_MODE": "enforced"}, "WAYPOST_MODE is 'enforced'; use enforce"),
        ({"WAYPOST_MODE": "observe"}, "comes with auto-instrumentation; until then use enforce"),
        ({"WAYPOST_LEASE_TTL_S": "soon"}, "WAYPOST_LEASE_TTL_S is 'soon'; use a number of seconds"),
        ({"WAYPOST_LEASE_TTL_S": "0"}, "0.1 to 86400"),
        ({"WAYPOST_SEAL": "maybe"}, "use true or false"),
    ],
)
def test_a_value_of_the_environment_that_does_not_fit_is_named(environ: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        config.load(environ, Path("no such file"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lease = 3", "there is no such setting. Known: "),
        ("mode = 3", "use enforce"),
        ("store = 3", "use a text"),
        ("store = [", "is not TOML"),
    ],
)
def test_a_value_of_the_file_that_does_not_fit_is_named_with_its_file(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "waypost.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=words) as refused:
        config.load({}, file)
    assert "waypost.toml" in str(refused.value)


def test_where_things_lie() -> None:
    held = Settings(home="/var/lib/agent")
    assert held.store_url == "/var/lib/agent/waypost.db"
    assert held.key_file == Path("/var/lib/agent/key")
    assert Settings().store_url == str(Path(".waypost/waypost.db"))
    assert Settings(store="postgresql://db/waypost").store_url == "postgresql://db/waypost"


def test_the_chain_key_is_a_reference_that_must_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().chain_key_bytes() is None
    assert Settings(chain_key="plain").chain_key_bytes() == b"plain"
    monkeypatch.setenv("CHAIN", "from the environment")
    assert Settings(chain_key="env:CHAIN").chain_key_bytes() == b"from the environment"
    monkeypatch.delenv("CHAIN")
    with pytest.raises(ConfigError, match="CHAIN, which is not set"):
        Settings(chain_key="env:CHAIN").chain_key_bytes()
