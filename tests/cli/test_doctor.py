"""`waypost doctor`: is everything here as Waypost needs it?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_export import Collector, collector

__all__ = ["collector"]
pytestmark = pytest.mark.kill


def checks(cli: Cli, *options: str) -> dict[str, tuple[str, str]]:
    return {
        one["name"]: (one["verdict"], one["what"]) for one in cli("doctor", "--json", *options).json["checks"]
    }


def test_a_healthy_machine_passes_and_says_what_is_still_to_do(store: Path, cli: Cli) -> None:
    done = cli("doctor")
    assert done.code == 0
    assert "Nothing fails." in done.out
    found = checks(cli)
    assert set(found) == {"versions", "packages", "settings", "store", "keys", "disk", "telemetry", "spans"}
    assert found["store"][0] == "ok"
    assert "4 runs" in found["store"][1]
    assert "mode 0600" in found["keys"][1]
    assert found["telemetry"][0] == "warn"
    assert found["spans"] == ("warn", found["spans"][1])
    assert "waypost export --pending" in done.out


def test_a_key_that_others_can_read_fails(store: Path, cli: Cli) -> None:
    (store / ".waypost/key").chmod(0o644)
    done = cli("doctor", "--json")
    assert done.code == 1
    verdict, what = checks(cli)["keys"]
    assert verdict == "fail"
    assert "chmod 600" in what


def test_a_collector_that_answers_is_told_from_one_that_does_not(
    store: Path, cli: Cli, collector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
    assert checks(cli)["telemetry"][0] == "ok"
    assert Collector.requests
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    verdict, what = checks(cli)["telemetry"]
    assert verdict == "fail"
    assert "127.0.0.1:9" in what
    assert checks(cli, "--no-network")["telemetry"][0] == "ok"


def test_a_machine_without_a_store_is_healthy_and_new(tmp_path: Path, cli: Cli) -> None:
    found = checks(cli)
    assert (found["store"][0], found["keys"][0]) == ("warn", "warn")
    assert cli("doctor").code == 0
    assert not (tmp_path / ".waypost").exists(), "looking makes nothing"


def test_settings_that_cannot_be_read_are_one_failed_check(
    store: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYPOST_MODE", "careless")
    found = checks(cli)
    assert found["settings"][0] == "fail"
    assert "WAYPOST_MODE" in found["settings"][1]
    monkeypatch.setenv("WAYPOST_MODE", "enforce")
    monkeypatch.setenv("WAYPOST_SEAL", "off")
    assert checks(cli)["settings"][0] == "warn"


def test_a_newer_store_fails(store: Path, cli: Cli) -> None:
    from tests.cli.test_verify import change

    change(store, "UPDATE waypost_schema SET version_num = '9999'")
    assert checks(cli)["store"][0] == "fail"
