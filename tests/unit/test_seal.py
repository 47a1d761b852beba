"""Is every secret found, exact for the agent, invisible to others, and is clean text left alone?"""

from __future__ import annotations

import pickle
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import SecretBytes, SecretStr

from tests.unit.exact import same
from tracer import codec, seal
from tracer.errors import ConfigError, IntegrityError, KeyMissing, SecretMissing
from tracer.keys import Keys
from tracer.seal import Secret, Vault, mask, mask_plain

# Made up, and in pieces, so that no scanner of repositories takes them for real.
A, D, U = "abcdefghij" * 5, "0123456789" * 5, "ABCDEFGHIJ" * 5
CANARIES = {
    "aws": "AKIA" + U[:8] + D[:8],
    "github": "ghp_" + A[:20] + D[:16],
    "github fine": "github_pat_" + D[:11] + "_" + A[:30],
    "gitlab": "glpat-" + A[:10] + D[:10],
    "slack": "xoxb-" + D[:12] + "-" + A[:12],
    "jwt": "eyJ" + "hbGciOiJub25lIn0" + ".eyJ" + "zdWIiOiJ4In0" + "." + A[:12],
    "pem": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE" + A + "\n-----END RSA " + "PRIVATE KEY-----",
    "sk": "sk-" + "proj-" + A[:10] + D[:10],
    "anthropic": "sk-" + "ant-api03-" + A[:10] + D[:10],
    "stripe": "sk_" + "live_" + A[:10] + D[:10],
    "stripe hook": "whsec_" + A[:10] + D[:10],
    "google": "AI" + "za" + A[:20] + D[:15],
    "google oauth": "ya29." + A[:20] + D[:10],
    "google client": "GOCSPX-" + A[:20] + D[:8],
    "npm": "npm_" + A[:20] + D[:16],
    "pypi": "pypi-" + A[:30] + D[:20],
    "hugging face": "hf_" + A[:20] + D[:14],
    "sendgrid": "SG." + A[:22] + "." + A[:43],
    "digitalocean": "dop_v1_" + ("ab12" * 16),
    "docker": "dckr_pat_" + A[:27],
    "databricks": "dapi" + ("ab12" * 8),
    "shopify": "shpat_" + ("ab12" * 8),
    "vault": "hvs." + A[:24],
    "age": "AGE-SECRET-" + "KEY-1" + U[:40] + D[:8],
    "linear": "lin_api_" + A[:40],
    "notion": "ntn_" + A[:40],
    "planetscale": "pscale_tkn_" + A[:30],
    "grafana": "glsa_" + A[:32],
    "telegram": D[:9] + ":AA" + A[:33],
    "twilio": "SK" + ("ab12" * 8),
}
NAMED = [
    ("Authorization: Bearer {}", "FAKE.jwt.value"),
    ("Authorization: Basic {}", "dXNlcjpwYXNzd29yZA=="),
    ("curl -H 'X: bearer {}'", "a1b2c3d4e5f6"),
    ("export TOKEN={}; ls", "tok_FAKE_4eC39Hq"),
    ("db=postgres://app:{}@db/x", "hunter2fake"),
    ("redis://:{}@cache:6379/0", "p@ss:w0rd"),
    ("password={}", "correcthorse"),
    ('{{"api_key": "{}", "n": 1}}', "abc-def-123"),
    ('"{{\\"client_secret\\": \\"{}\\"}}"', "s3cr3t_value"),
    ("{{'password': '{}'}}", "it has words and 7 spaces"),
    ("run --token {} --verbose", "abc123def456"),
    ("aws_secret_access_key = {}", "wJalrXUtnFEMIK7MDENG"),
    ("https://x.example/cb?access_token={}&state=1", "q1w2e3r4t5"),
    ("https://b.example/o?sv=1&sig={}", "aB3%2Fcd4567890123456"),
    ("api_key%3D{}", "a1b2c3d4e5"),
    ("AccountKey={};EndpointSuffix=x", "abcdef0123456789=="),
    ("hook https://hooks.slack.com/services/{}", "T00000000/B00000000/a1b2c3d4e5f6a7b8c9d0e1f2"),
]
CLEAN = [
    "The token count is 512, max_tokens=4096, total_tokens: 12345, next_token=1234567, tokenizer=cl100k_base",
    "password: required, at least 8 characters. Enter your password: ",
    "def login(self, password=None, token=''): return self.password == os.environ['PASSWORD']",
    "token = get_token(); secret=${SECRET}; api_key=<your key>; password=%(password)s",
    "https://example.org:8080/a@b/c?page=2 and mail to someone@example.org:25",
    "task-management-for-distributed-systems-1 risk-adjusted 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "sha256:" + "ab12" * 16,
    "primary_key=12345678, foreign-key: user_id, keyboard=qwertzuiop, monkey: 1234567",
    "The bearer of this letter; Bearer authentication is used.",
    "4111 1111 1111 1111",
    "a short text",
    "",
]


@pytest.fixture
def vault() -> Vault:
    return Vault(Keys.generate())


def opener(vault: Vault) -> Any:
    stored = {each.fingerprint: each.blob for each in vault.pending()}
    return lambda fingerprint: vault.open(fingerprint, stored[fingerprint])


def visible(plain: Any) -> str:
    return codec.encode(plain).decode()


AROUND = ["{}", "use {} please", '{{"out": "line\\n{}"}}', "x%3D{}%26y", "ключ{}", "[{}]"]


@pytest.mark.parametrize("secret", CANARIES.values(), ids=CANARIES)
def test_every_kind_of_secret_is_sealed_and_comes_back(vault: Vault, secret: str) -> None:
    for around in AROUND:
        text = around.format(secret)
        plain = codec.lower({"a": [text], "b": text.encode()}, seal=vault.seal_text)
        assert secret not in visible(plain), around
        assert secret not in mask(text), around
        assert codec.lift(plain, open=opener(vault)) == {"a": [text], "b": text.encode()}


@pytest.mark.parametrize(("template", "secret"), NAMED, ids=[template for template, _ in NAMED])
def test_a_secret_that_stands_under_its_name_is_sealed_and_what_is_around_it_is_not(
    vault: Vault, template: str, secret: str
) -> None:
    text = template.format(secret)
    plain: Any = vault.seal_text(text, "content")
    clear = "".join(part for part in plain["$text"] if isinstance(part, str))
    assert secret.rstrip("=") not in clear
    assert clear.rstrip("=") == template.format("").rstrip("=") or len(clear) <= len(text) - len(
        secret.rstrip("=")
    )
    assert codec.lift(plain, open=opener(vault)) == text


@pytest.mark.parametrize("text", CLEAN)
def test_clean_text_is_left_alone(vault: Vault, text: str) -> None:
    assert vault.seal_text(text, "content") is text


SENSITIVE = [
    *(
        "authorization",
        "Authorization",
        "X-API-Key",
        "api_key",
        "apiKey",
        "password",
        "db_password",
        "client_secret",
    ),
    *(
        "AWS_SECRET_ACCESS_KEY",
        "github_token",
        "token",
        "secrets.db",
        "$.headers.Cookie",
        "$.credentials[3].user",
    ),
]


@pytest.mark.parametrize("name", SENSITIVE)
def test_the_whole_value_under_a_name_of_secrets_is_sealed(vault: Vault, name: str) -> None:
    assert vault.seal_text("anything at all", name) == {"$sealed": vault.fingerprint("anything at all")}


@pytest.mark.parametrize(
    "name", ["content", "max_tokens", "author", "key", "keys", "primary_key", "next_page_token", "a.b[0]"]
)
def test_other_names_seal_nothing(vault: Vault, name: str) -> None:
    assert vault.seal_text("anything at all", name) == "anything at all"


def test_everything_below_a_name_of_secrets_is_sealed(vault: Vault) -> None:
    plain = codec.lower(
        {"secrets": {"db": ["one value", {"x": "other value"}]}, "db": "clear"}, seal=vault.seal_text
    )
    assert "value" not in visible(plain)
    assert "clear" in visible(plain)
    assert plain == codec.lower(
        {"secrets": {"db": [codec.lift("one value"), {"x": "other value"}]}, "db": "clear"},
        seal=vault.seal_text,
    )
    part = codec.lower(["one value"], path="$.secrets.db", seal=vault.seal_text)
    assert part == [plain["secrets"]["db"][0]]  # type: ignore[index, call-overload]


def test_the_second_of_a_pair_stands_under_the_name_of_the_first(vault: Vault) -> None:
    value = {
        "headers": [("Authorization", "Basic words"), ["accept", "words too"], ["x-api-key", {"k": "words"}]]
    }
    plain = codec.lower(value, seal=vault.seal_text)
    assert visible(plain).count("words") == 1
    assert codec.lift(plain, open=opener(vault)) == value
    assert visible(vault.mask_plain(codec.lower(value))).count("words") == 1


def test_equal_secrets_are_equal_and_stored_once_whatever_encrypts_them(vault: Vault) -> None:
    secret = CANARIES["sk"]
    one = vault.seal_text(f"use {secret} now", "a")
    other = vault.seal_text(f"use {secret} later", "b")
    assert one["$text"][1] == other["$text"][1]  # type: ignore[index, call-overload]
    assert [(each.kind, each.length) for each in vault.pending()] == [("sk", len(secret))]


def test_a_secret_as_a_key_is_sealed_too(vault: Vault) -> None:
    value = {CANARIES["github"]: 1, "plain": {"password": "x"}}
    plain = codec.lower(value, seal=vault.seal_text)
    assert CANARIES["github"] not in visible(plain)
    assert same(codec.lift(plain, open=opener(vault)), value)


def test_what_json_cannot_hold_survives_beside_and_inside_a_secret(vault: Vault) -> None:
    for value in [
        {"a": "\ud83e " + CANARIES["aws"] + " \ud83e\0", "password": "half \ud83e"},
        {"raw": b"\xff\0 " + CANARIES["slack"].encode() + b"\xfe", "token": bytearray(b"\x80\x81")},
    ]:
        plain = codec.lower(value, seal=vault.seal_text)
        assert same(codec.lift(codec.decode(codec.encode(plain)), open=opener(vault)), value)


def test_pydantics_secrets_are_sealed_whole_whatever_they_look_like(vault: Vault) -> None:
    value = {"a": SecretStr("plain words"), "b": SecretBytes(b"\xff words"), "c": SecretStr("")}
    plain = codec.lower(value, seal=vault.seal_text)
    assert "words" not in visible(plain)
    again = codec.lift(plain, open=opener(vault))
    assert [each.get_secret_value() for each in again.values()] == ["plain words", b"\xff words", ""]


def test_a_program_can_add_a_detector_of_its_own() -> None:
    vault = Vault(
        Keys.generate(),
        hook=lambda text: (
            [(text.index("EMP-"), text.index("EMP-") + 8, "employee")] if "EMP-" in text else []
        ),
    )
    assert vault.seal_text("ask EMP-1234 today", "x") == {
        "$text": ["ask ", {"$sealed": vault.fingerprint("EMP-1234")}, " today"]
    }
    assert "EMP-1234" not in vault.mask("ask EMP-1234 today")


# -- the vault ------------------------------------------------------------------------------------------------


def test_a_ciphertext_stays_pending_until_the_store_has_committed_it(vault: Vault) -> None:
    vault.seal_text("x", "password")
    (first,) = vault.pending()
    vault.seal_text("x", "password")
    assert vault.pending() == [first]
    vault.confirm([first.fingerprint])
    vault.seal_text("x", "password")
    assert vault.pending() == []
    vault.forget([first.fingerprint])
    vault.seal_text("x", "password")
    assert len(vault.pending()) == 1


def test_a_ciphertext_opens_only_under_its_own_fingerprint_and_unchanged(vault: Vault) -> None:
    vault.seal_text("first", "password")
    vault.seal_text("second", "password")
    first, second = vault.pending()
    assert vault.open(first.fingerprint, first.blob) == "first"
    changed = [
        first.blob[:-1] + bytes((first.blob[-1] ^ 1,)),
        first.blob[:14],
        b"",
        b"\x02" + first.blob[1:],
        second.blob,
    ]
    for blob in changed:
        with pytest.raises(IntegrityError, match=first.fingerprint[:8]):
            vault.open(first.fingerprint, blob)


def test_old_encryption_keys_open_and_a_missing_one_is_named() -> None:
    keys = Keys.generate("the file")
    vault = Vault(keys)
    vault.seal_text("x" * 9, "password")
    (sealed,) = vault.pending()
    newer = Keys(
        "the file", keys.fingerprint, keys.digest, 2, {**keys.encryption, 2: AESGCM.generate_key(256)}
    )
    assert Vault(newer).open(sealed.fingerprint, sealed.blob) == "x" * 9
    after = Vault(newer)
    assert after.seal_text("x" * 9, "password") == {"$sealed": sealed.fingerprint}
    assert after.pending()[0].blob[1] == 2
    lost = Keys("the file", keys.fingerprint, keys.digest, 2, {2: newer.encryption[2]})
    with pytest.raises(KeyMissing, match=r"the file: it holds no encryption key 1, only \[2\]"):
        Vault(lost).open(sealed.fingerprint, sealed.blob)


def test_another_fingerprint_key_is_noticed() -> None:
    keys = Keys.generate()
    vault = Vault(keys)
    vault.seal_text("x" * 9, "password")
    (sealed,) = vault.pending()
    with pytest.raises(IntegrityError, match="fingerprint key"):
        Vault(Keys("", b"f" * 32, keys.digest, 1, keys.encryption)).open(sealed.fingerprint, sealed.blob)


def test_a_run_sealed_by_another_pattern_set_is_refused_not_guessed() -> None:
    with pytest.raises(ConfigError, match="pattern set 0"):
        Vault(Keys.generate(), version=0)


# -- references -----------------------------------------------------------------------------------------------


def test_a_secret_is_stored_as_its_reference_and_shows_nothing_else(
    monkeypatch: pytest.MonkeyPatch, vault: Vault
) -> None:
    monkeypatch.setenv("LLM_KEY", "value-9876543210")
    secret = Secret("env:LLM_KEY")
    assert secret.reveal() == "value-9876543210"
    assert "9876" not in f"{secret} {secret!r} {[secret]}"
    assert codec.lower({"k": secret}, seal=vault.seal_text) == {"k": {"$secret": "env:LLM_KEY"}}
    assert codec.lift({"$secret": "env:LLM_KEY"}) == pickle.loads(pickle.dumps(secret)) == secret


def test_a_revealed_value_is_a_secret_wherever_it_turns_up(
    monkeypatch: pytest.MonkeyPatch, vault: Vault
) -> None:
    fresh: list[str] = []
    monkeypatch.setattr("tracer.seal.vault.REVEALED", fresh)
    monkeypatch.setattr("tracer.seal.secret.REVEALED", fresh)
    monkeypatch.setenv("ODD", "no pattern knows this")
    assert vault.seal_text("said: no pattern knows this!", "x") == "said: no pattern knows this!"
    Secret("env:ODD").reveal()
    assert "pattern" not in visible(vault.seal_text("said: no pattern knows this!", "x"))
    assert "pattern" not in mask("said: no pattern knows this!")


def test_a_reference_that_does_not_resolve_stops_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    with pytest.raises(SecretMissing, match="env:NOT_THERE: NOT_THERE is not set"):
        Secret("env:NOT_THERE").reveal()
    monkeypatch.setenv("NOT_THERE", "")
    with pytest.raises(SecretMissing, match="is empty"):
        Secret("env:NOT_THERE").reveal()
    with pytest.raises(SecretMissing, match="nothing resolves 'vault', only env"):
        Secret("vault:x").reveal()


def test_a_secret_given_in_clear_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigError) as refused:
        Secret(CANARIES["sk"])
    assert CANARIES["sk"][:8] not in str(refused.value)


# -- views ----------------------------------------------------------------------------------------------------


def test_a_placeholder_shows_kind_and_length_and_is_equal_for_equal_secrets(vault: Vault) -> None:
    secret = CANARIES["sk"]
    shown = vault.mask(f"401 for key {secret}")
    assert shown == f"401 for key ‹sealed sk {len(secret)}·{vault.fingerprint(secret)[:8]}›"
    plain = codec.lower({"api_key": secret, "log": f"used {secret}!"}, seal=vault.seal_text)
    view: Any = vault.mask_plain(plain)
    assert view["api_key"] == shown.removeprefix("401 for key ")
    assert view["log"] == f"used {view['api_key']}!"
    assert mask_plain(plain)["api_key"] == f"‹sealed·{vault.fingerprint(secret)[:8]}›"  # type: ignore[index, call-overload]


def test_a_view_of_plain_that_was_never_sealed_is_masked_as_well(vault: Vault) -> None:
    value = {
        "password": "hunter2", "n": [1, {"x": f"use {CANARIES['aws']}"}], "blob": CANARIES["npm"].encode(),
        CANARIES["github"]: (CANARIES["hugging face"],), "secret": b"raw bytes", 3: {"token": ("deep", "down")},
    }  # fmt: skip
    view = visible(vault.mask_plain(codec.lower(value)))
    for secret in (
        "hunter2",
        "deep",
        "down",
        *(CANARIES[kind] for kind in ("aws", "npm", "github", "hugging face")),
    ):
        assert secret not in view
    assert codec.encode(codec.lower(value)) != view
    assert "raw bytes" not in view
    assert "cmF3IGJ5dGVz" not in view


def test_what_a_vault_sealed_by_name_is_masked_in_texts_that_quote_it(vault: Vault) -> None:
    vault.seal_text("Tr0ub4dor and 3", "password")
    assert "Tr0ub4dor" not in vault.mask("login failed for Tr0ub4dor and 3")
    vault.seal_text("message", "token")
    assert vault.mask("this message is plain") == "this message is plain"


def test_a_card_number_is_masked_in_views_only(vault: Vault) -> None:
    assert vault.seal_text("card 4111 1111 1111 1111", "note") == "card 4111 1111 1111 1111"
    assert vault.mask("card 4111 1111 1111 1111").startswith("card ‹sealed card 19·")
    assert vault.mask("order 4111 1111 1111 1112") == "order 4111 1111 1111 1112"


def test_a_deep_view_needs_no_recursion(vault: Vault) -> None:
    plain: Any = CANARIES["aws"]
    for _ in range(5000):
        plain = {"a": [plain]}
    view: Any = vault.mask_plain(plain)
    for _ in range(5000):
        view = view["a"][0]
    assert view.startswith("‹sealed aws")


# -- time -----------------------------------------------------------------------------------------------------

HARD = [
    *(
        "eyJ",
        "eyJ-",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "token=",
        "token:",
        '"token":"',
        "sk-",
        "bearer ",
    ),
    *("SG." + "a" * 20 + ".", 'password=\\"', "1 1-", "AKIA", "--token ", "authorization: basic ", "a.b:c"),
    *("&sig=", "AA:AA", "İ"),
]


@pytest.mark.parametrize("piece", HARD)
def test_no_text_makes_the_search_slow(piece: str) -> None:
    """Twice the text takes about twice the time: a square would take four times as long."""

    def spent(size: int) -> float:
        text = (piece * size)[:size]
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            seal.find(text)
            best = min(best, time.process_time() - start)
        return best

    assert spent(32_000) < 3 * spent(16_000) + 0.01
