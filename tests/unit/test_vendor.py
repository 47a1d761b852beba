"""Are the third-party files the inspector serves the ones the manifest names, and do they fit together?"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import plotly.offline
import pytest

VENDOR = Path(__file__).resolve().parents[2] / "static" / "vendor"
MANIFEST: list[dict[str, str]] = json.loads((VENDOR / "manifest.json").read_text())
FIELDS = {"file", "name", "version", "licence", "licence_file", "sha384"}


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["file"])
def test_a_vendored_file_has_the_digest_the_manifest_claims(entry: dict[str, str]) -> None:
    digest = hashlib.sha384((VENDOR / entry["file"]).read_bytes()).digest()
    assert entry["sha384"] == "sha384-" + base64.b64encode(digest).decode()


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["file"])
def test_a_vendored_file_carries_its_version_and_its_licence(entry: dict[str, str]) -> None:
    assert entry.keys() == FIELDS
    assert entry["version"] in entry["file"]
    assert len((VENDOR / entry["licence_file"]).read_text()) > 500


def test_nothing_lies_in_the_vendor_folder_that_the_manifest_does_not_name() -> None:
    named = {entry["file"] for entry in MANIFEST} | {entry["licence_file"] for entry in MANIFEST}
    assert {path.name for path in VENDOR.iterdir()} == named | {"manifest.json"}


def test_the_vendored_plotly_is_the_version_that_python_plotly_writes_figures_for() -> None:
    (entry,) = [entry for entry in MANIFEST if entry["name"] == "plotly-basic"]
    assert entry["version"] == plotly.offline.get_plotlyjs_version()
    head = (VENDOR / entry["file"]).read_text()[:400]
    assert re.search(r"plotly\.js \(basic - minified\) v" + re.escape(entry["version"]), head)
