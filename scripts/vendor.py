"""Which third-party files does the inspector serve, and how are they fetched again?

`python scripts/vendor.py` packs each npm release named below, copies the files out under names that carry
the version, and writes static/vendor/manifest.json. Inter has no npm step: its file is kept as it is and
only listed. tests/unit/test_vendor.py recomputes what the manifest claims.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"


@dataclass(frozen=True, slots=True)
class Release:
    """One npm release: `files` maps a path inside the package to our name without version and suffix."""

    package: str
    version: str
    licence: str
    files: dict[str, str]


RELEASES = (
    Release("htmx.org", "4.0.1", "0BSD", {"dist/htmx.min.js": "htmx", "dist/ext/hx-sse.min.js": "htmx-sse"}),
    # The version that plotly.offline.get_plotlyjs_version() names for the locked Python plotly.
    Release("plotly.js-basic-dist-min", "4.1.1", "MIT", {"plotly-basic.min.js": "plotly-basic"}),
)

INTER = {
    "file": "inter-5.3.0-latin-wght.woff2",
    "name": "inter",
    "version": "5.3.0",
    "licence": "OFL-1.1",
    "licence_file": "inter-5.3.0.LICENSE.txt",
}


def sha384(path: Path) -> str:
    """The subresource-integrity form: `sha384-` and base64 of the digest."""
    return "sha384-" + base64.b64encode(hashlib.sha384(path.read_bytes()).digest()).decode()


def fetch(release: Release, work: Path) -> list[dict[str, str]]:
    """Copy one release's files into static/vendor; returns their manifest entries, digest excluded."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{release.package}@{release.version}"],
        cwd=work,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()[-1]
    licence_file = f"{release.package}-{release.version}.LICENSE.txt"
    wanted = {path: f"{name}-{release.version}.min.js" for path, name in release.files.items()}
    with tarfile.open(work / packed) as tar:
        for path, target in {**wanted, "LICENSE": licence_file}.items():
            member = tar.extractfile(f"package/{path}")
            if member is None:
                raise SystemExit(f"vendor: {packed} holds no file package/{path}")
            (VENDOR / target).write_bytes(member.read())
    return [
        {
            "file": target,
            "name": release.files[path],
            "version": release.version,
            "licence": release.licence,
            "licence_file": licence_file,
        }
        for path, target in wanted.items()
    ]


def main() -> None:
    entries = [dict(INTER)]
    with tempfile.TemporaryDirectory() as work:
        for release in RELEASES:
            entries += fetch(release, Path(work))
    for entry in entries:
        entry["sha384"] = sha384(VENDOR / entry["file"])
    entries.sort(key=lambda entry: entry["file"])
    (VENDOR / "manifest.json").write_text(json.dumps(entries, indent=2) + "\n")


if __name__ == "__main__":
    main()
