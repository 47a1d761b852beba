"""How does a CI server read a verdict? As one JUnit test case."""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from .comparing import Report
from .errors import ConfigError
from .tapetext import clean, text_of

SUITE = "waypost divergence"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot carry."""


def junit(report: Report, seconds: float) -> str:
    """The report as a JUnit document: failed on an alarm, skipped where there was not enough evidence."""
    alarm, reasons = report.exit_code == 1, report.comparison.reasons
    text = _FORBIDDEN.sub("\ufffd", "\n".join(text_of(report)))
    said = quoteattr(_FORBIDDEN.sub("\ufffd", clean(report.sentence)))
    inner = f"<system-out>{escape(text)}</system-out>"
    if alarm:
        rule = reasons[0].code if report.comparison.alarm else report.held[0].shape.split()[0]
        kind = quoteattr(rule)
        inner = f"<failure message={said} type={kind}>{escape(text)}</failure>"
    elif report.exit_code:
        inner = f"<skipped message={said}/>{inner}"
    failures, skipped = int(alarm), int(not alarm and report.exit_code != 0)
    name = quoteattr(f"{clean(report.name)} keeps its course")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites><testsuite name="{SUITE}" tests="1" failures="{failures}" errors="0" skipped="{skipped}" '
        f'time="{seconds:.3f}"><testcase classname="{SUITE}" name={name} time="{seconds:.3f}">{inner}</testcase>'
        "</testsuite></testsuites>\n"
    )


def write(path: Path, document: str) -> None:
    """Put the document in place.

    Raises:
        ConfigError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document, "utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from None
