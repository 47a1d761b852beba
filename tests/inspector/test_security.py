"""Who is let in, what may a page do, and what may another site make it do?"""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from inspector.app import Config, create_app
from inspector.security import ANYONE, PERSON, Launch, install, policy_of
from tests.inspector.conftest import OURS, PORT
from tracer.config import Settings
from tracer.errors import ConfigError, StoreMissing

VALUES = {"run_id": "audit-1", "ref": "1", "first": "1", "second": "2", "call": 1, "part": "args", "entry": 1}
VALUES |= {
    "token": "once",
    "trace_id": "00" * 16,
    "effect_id": "none",
    "approval_id": "none",
    "alert_id": "none",
    "filename": "app.css",
}
HERE = {"Host": f"127.0.0.1:{PORT}"}


def routes(app: Flask) -> list[tuple[str, str, str]]:
    """(method, address, endpoint) of everything that can be asked for."""
    out = []
    for rule in app.url_map.iter_rules():
        with app.test_request_context(headers=HERE):
            address = rule.build({name: VALUES[name] for name in rule.arguments}, append_unknown=False)
        assert address is not None
        out += [
            (method, address[1], rule.endpoint)
            for method in sorted(rule.methods or ())
            if method != "OPTIONS"
        ]
    return out


def test_every_route_declares_who_may_use_it_and_only_the_way_in_is_open(app: Flask) -> None:
    policies = {
        rule.endpoint: policy_of(app.view_functions[rule.endpoint]) for rule in app.url_map.iter_rules()
    }
    assert {end for end, policy in policies.items() if policy == ANYONE} == {
        "session.launch",
        "session.enter",
    }
    assert {policy for end, policy in policies.items() if end != "static"} == {ANYONE, PERSON}


def test_a_route_without_a_policy_does_not_start() -> None:
    app = Flask(__name__, static_folder=None)
    app.add_url_rule("/secret", view_func=lambda: "secret", endpoint="secret")
    with pytest.raises(ConfigError, match="secret"):
        install(app, hosts=frozenset(), port=1)


def test_every_answer_carries_every_header(app: Flask, stranger: FlaskClient, person: FlaskClient) -> None:
    for client in (stranger, person):
        for method, address, _ in routes(app):
            answer = client.open(address, method=method, headers=OURS)
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy, address
            assert "script-src 'self';" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe-eval" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert answer.headers["Cache-Control"] == "no-store"
            answer.close()


def test_only_a_page_with_a_figure_may_set_styles_from_a_script(app: Flask, person: FlaskClient) -> None:
    loose = set()
    for method, address, endpoint in routes(app):
        answer = person.open(address, method=method, headers=OURS)
        if "unsafe-inline" in answer.headers["Content-Security-Policy"]:
            loose.add(endpoint)
        answer.close()
    assert loose == {"run.run", "run.more_rail"}


def test_a_stranger_sees_nothing_of_the_store(app: Flask, stranger: FlaskClient) -> None:
    for method, address, endpoint in routes(app):
        answer = stranger.open(address, method=method, headers=OURS)
        if endpoint not in ("static", "session.launch", "session.enter"):
            assert answer.status_code == 401, address
            assert "copyleft" not in answer.text
        answer.close()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:4700", "10.0.0.1", "localhost.evil"]
)
def test_another_name_is_refused_before_anything_else(person: FlaskClient, host: str) -> None:
    answer = person.get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert "allow-host" in answer.text
    assert host in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:4700", "localhost:4700", "[::1]:4700", "LOCALHOST"])
def test_loopback_names_are_known(stranger: FlaskClient, host: str) -> None:
    assert stranger.get("/", headers={"Host": host}).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{PORT + 1}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
        {},
    ],
)
def test_a_form_of_another_site_is_refused(person: FlaskClient, headers: dict[str, str]) -> None:
    answer = person.post("/inbox/x/decide", data={"decision": "approve"}, headers={**HERE, **headers})
    assert answer.status_code == 403


def test_a_form_without_our_token_is_refused(person: FlaskClient) -> None:
    answer = person.post("/inbox/x/decide", data={"decision": "approve"}, headers=OURS)
    assert answer.status_code == 400
    assert "CSRF" in answer.text


@pytest.mark.parametrize("mode", ["no-cors", "cors", "websocket"])
def test_another_site_may_link_here_but_not_embed_a_part(person: FlaskClient, mode: str) -> None:
    linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": "image"}
    framed = {**linked, "Sec-Fetch-Dest": "iframe"}
    assert person.get("/", headers={**HERE, **linked}).status_code == 200
    assert person.get("/", headers={**HERE, **embedded}).status_code == 403
    assert person.get("/", headers={**HERE, **framed}).status_code == 403


def entered(client: FlaskClient, name: str = "maya", token: str = "once") -> int:
    """Give a name at the launch link; the status of the answer."""
    page = client.get(f"/launch/{token}", headers=HERE)
    if page.status_code != 200:
        return page.status_code
    csrf = page.text.split('name="csrf_token" value="')[1].split('"')[0]
    return client.post(f"/launch/{token}", data={"csrf_token": csrf, "name": name}, headers=OURS).status_code


def test_the_link_opens_one_session_and_asks_for_a_name_once(own_app: Flask) -> None:
    first, second = own_app.test_client(), own_app.test_client()
    assert first.get("/launch/once", headers=HERE).status_code == 200
    assert entered(first, "  ") == 422, "a name is needed, and asking does not use the link up"
    assert entered(first, "a\u202eb") == 422
    assert entered(first) == 303
    assert first.get("/", headers=HERE).status_code == 200
    assert "maya" in first.get("/", headers=HERE).text
    assert entered(second) == 401
    assert second.get("/", headers=HERE).status_code == 401
    assert first.get("/launch/once", headers=HERE).status_code == 303


def test_another_token_does_not_open(stranger: FlaskClient) -> None:
    assert entered(stranger, token="other") == 401
    assert Launch().token != Launch().token
    assert len(Launch().token) >= 32


def test_the_cookie_is_kept_from_scripts_and_other_sites(app: Flask) -> None:
    answer = app.test_client().get("/launch/once", headers=HERE)
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"waypost_{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_it_does_not_listen_beyond_loopback(home: Path) -> None:
    with pytest.raises(ConfigError, match="ssh -L"):
        create_app(Config(Settings(home=str(home)), host="0.0.0.0"))


def test_a_missing_store_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing, match=str(tmp_path)):
        create_app(Config(Settings(home=str(tmp_path / "nowhere"))))
    assert not (tmp_path / "nowhere").exists()


def test_a_large_form_is_refused(person: FlaskClient) -> None:
    answer = person.post("/inbox/x/decide", data={"why": "x" * (2 << 20)}, headers=OURS)
    assert answer.status_code == 413
