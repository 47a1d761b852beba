"""Case 34, the codec's half: no secret in stored bytes or views, and the resumed agent has the exact values."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import tracer
from tracer import codec
from tracer.errors import NotStorable, SecretMissing
from tracer.keys import Keys
from tracer.seal import Secret, Vault

STATE: dict[str, Any] = json.loads((Path(__file__).parent / "inputs" / "case_34.json").read_text())
FAKES = ["tok_FAKE_4eC39Hq", "hunter2fake", "FAKE.jwt.value", "sk-FAKE-000000000000"]


def forms(fake: str) -> list[bytes]:
    """The bytes under which *fake* could hide: clear, URL-encoded, hex, and base64 at each of three offsets."""
    shifted = [b64encode(b"x" * shift + fake.encode())[4 if shift else 0 : -4] for shift in range(3)]
    return [fake.encode(), quote(fake, safe="").encode(), fake.encode().hex().encode(), *shifted]


def assert_no_fake_in(data: bytes) -> None:
    found = [fake for fake in FAKES for form in forms(fake) if form in data]
    assert found == []


@pytest.fixture
def vault() -> Vault:
    return Vault(Keys.generate())


def test_the_search_finds_what_it_looks_for() -> None:
    for fake in FAKES:
        for data in (fake.encode(), b64encode(b"ab" + fake.encode() + b"cd"), quote(fake).encode()):
            with pytest.raises(AssertionError):
                assert_no_fake_in(data)


def test_no_secret_is_in_the_stored_bytes_and_the_agent_gets_all_of_them_back(vault: Vault) -> None:
    data = codec.encode(codec.lower(STATE, seal=vault.seal_text))
    sealed = vault.pending()
    assert_no_fake_in(data + b"".join(each.blob + each.fingerprint.encode() for each in sealed))
    blobs = {each.fingerprint: each.blob for each in sealed}
    assert codec.lift(codec.decode(data), open=lambda each: vault.open(each, blobs[each])) == STATE


def test_only_the_segment_is_sealed_so_that_a_diff_still_says_what_changed(vault: Vault) -> None:
    plain: Any = codec.lower(STATE, seal=vault.seal_text)
    text = plain["messages"][0]["content"]["$text"]
    assert [part for part in text if isinstance(part, str)] == [
        "export TOKEN=",
        "; db=postgres://app:",
        "@db/x",
    ]
    assert plain["scratch"]["client_kwargs"]["api_key"] == plain["retry_log"][0]["kwargs"]["api_key"]
    assert plain["error"]["$text"][1] == plain["scratch"]["client_kwargs"]["api_key"]


def test_no_secret_is_in_any_view_and_equal_ones_look_equal(vault: Vault) -> None:
    sealed = vault.mask_plain(codec.lower(STATE, seal=vault.seal_text))
    clear: Any = vault.mask_plain(codec.lower(STATE))
    assert sealed == clear
    assert_no_fake_in(json.dumps(clear).encode())
    shown = clear["scratch"]["client_kwargs"]["api_key"]
    assert shown.startswith("‹sealed sk 20·")
    assert clear["error"] == f"401 for key {shown}"
    assert "4111" not in clear["tool_args"]["note"]


def test_a_failing_path_shows_no_secret(vault: Vault) -> None:
    with pytest.raises(NotStorable) as refused:
        codec.lower({"sk-FAKE-000000000000": {"x": object()}})
    assert_no_fake_in(str(refused.value).encode())
    assert_no_fake_in(vault.mask(f"ValueError: {STATE!r}").encode())


def test_digests_are_of_the_real_values_so_that_sealing_changes_no_call(vault: Vault) -> None:
    keys = Keys.generate()
    plain = codec.lower(STATE, seal=vault.seal_text)
    blobs = {each.fingerprint: each.blob for each in vault.pending()}
    again = codec.lift(plain, open=lambda each: vault.open(each, blobs[each]))
    assert keys.arg_digest(codec.canonical(again)) == keys.arg_digest(codec.canonical(STATE))
    other = json.loads(json.dumps(STATE).replace("hunter2fake", "hunter3fake"))
    assert keys.arg_digest(codec.canonical(other)) != keys.arg_digest(codec.canonical(STATE))


def test_a_live_credential_is_a_reference_resolved_again_or_a_clear_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = codec.encode(codec.lower({"client": Secret("env:CASE_34_KEY")}))
    assert json.loads(data) == {"client": {"$secret": "env:CASE_34_KEY"}}
    secret = codec.lift(codec.decode(data))["client"]
    monkeypatch.delenv("CASE_34_KEY", raising=False)
    with pytest.raises(SecretMissing, match="CASE_34_KEY is not set"):
        secret.reveal()
    monkeypatch.setenv("CASE_34_KEY", "sk-FAKE-000000000000")
    assert secret.reveal() == "sk-FAKE-000000000000"


def test_no_secret_is_in_any_file_of_the_store_and_a_later_process_life_reads_it(tmp_path: Path) -> None:
    with tracer.run("case-34", id="case-34") as run:
        run.checkpoint("secrets", STATE)
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert any(each.suffix == ".db" for each in files)
    for file in files:
        assert_no_fake_in(file.read_bytes())
    with tracer.run("case-34", id="case-34") as run:
        assert {name: run.state[name] for name in STATE} == STATE
