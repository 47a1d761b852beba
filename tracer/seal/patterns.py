"""Which parts of a text look like a secret?

Every pattern has literal triggers: text that holds none of them costs a few substring searches. No pattern
can scan the same characters again and again: a failing attempt costs a bounded number of steps, and what is
scanned without a bound either matches or ends at a character that begins the next attempt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from .assignments import assigned

VERSION: Final = 1
"""Of the pattern set. Pinned per run: a value sealed by one set and not by another would look changed."""

SHORTEST: Final = 8
"""Characters; a shorter text holds no secret that a pattern would find."""

Span = tuple[int, int, str]
"""(start, end, kind) of one secret in a text."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of secret. Group 1, where there is one, is the secret itself."""

    kind: str
    triggers: tuple[str, ...]
    regex: re.Pattern[str]
    accept: Callable[[str], bool] = bool


def _digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _mixed(value: str) -> bool:
    return not value.isalpha()


def _jwt(value: str) -> bool:
    parts = value.split(".")
    return len(parts) > 2 and len(parts[0]) >= 16 and len(value) > 24


def _p(kind: str, triggers: str, regex: str, accept: Callable[[str], bool] = bool) -> Pattern:
    return Pattern(kind, tuple(triggers.split()), re.compile(regex), accept)


# A token begins where no letter or digit stands before it, or after an escape (`%3Dsk-…`, `\\nsk-…`).
_START: Final = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
_WORD: Final = r"[A-Za-z0-9_-]"

PATTERNS: Final[tuple[Pattern, ...]] = (
    _p("aws", "AKIA ASIA", r"(?:(?<![A-Z0-9])|(?<=%[0-9A-Fa-f]{2}))A[KS]IA[0-9A-Z]{16}(?![0-9A-Z])"),
    _p("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _p("github", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    _p("gitlab", "glpat- gldt- glrt- glcbt-", rf"gl(?:pat|dt|rt|cbt)-{_WORD}{{20,}}"),
    _p("slack", "xoxb- xoxa- xoxp- xoxr- xoxs- xoxe- xapp-", r"(?:xox[abeprs]|xapp)-[A-Za-z0-9.-]{12,}"),
    _p("slack", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9_/-]{20,})"),
    _p("jwt", "eyJ", rf"eyJ{_WORD}*+(?:\.{_WORD}*+){{0,4}}+", _jwt),
    _p(
        "pem",
        "-----BEGIN",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*+"
        r"(?:-----END [A-Z0-9 ]{0,60}-----)?",
    ),
    _p("sk", "sk-", rf"{_START}sk-{_WORD}{{16,}}", _digit),
    _p(
        "stripe",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",
    ),
    _p("google", "AIza", r"AIza[0-9A-Za-z_-]{35}"),
    _p("google", "ya29.", r"ya29\.[0-9A-Za-z_-]{20,}"),
    _p("google", "GOCSPX-", r"GOCSPX-[0-9A-Za-z_-]{20,}"),
    _p("npm", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _p("pypi", "pypi-", rf"pypi-{_WORD}{{40,}}"),
    _p("hf", "hf_", rf"{_START}hf_[A-Za-z0-9]{{30,}}"),
    _p("sendgrid", "SG.", rf"SG\.{_WORD}{{16,32}}\.{_WORD}{{16,64}}"),
    _p("digitalocean", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[a-f0-9]{64}"),
    _p("docker", "dckr_pat_", rf"dckr_pat_{_WORD}{{20,}}"),
    _p("databricks", "dapi", rf"{_START}dapi[a-f0-9]{{32}}"),
    _p("shopify", "shpat_ shpss_ shpca_ shppa_", r"shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}"),
    _p("vault", "hvs. hvb. hvr.", rf"{_START}hv[sbr]\.{_WORD}{{20,}}"),
    _p("age", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    _p("linear", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}"),
    _p("notion", "ntn_", rf"{_START}ntn_[A-Za-z0-9]{{32,}}"),
    _p("planetscale", "pscale_tkn_ pscale_pw_", rf"pscale_(?:tkn|pw)_{_WORD}{{24,}}"),
    _p("grafana", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9_]{16}[A-Za-z0-9_+/=]{8,}"),
    _p("telegram", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    _p("twilio", "SK", rf"{_START}SK[0-9a-f]{{32}}(?![0-9a-f])"),
    _p("bearer", "earer", r"[Bb]earer(?:\s{1,8}|%20|\+)([A-Za-z0-9._~+/=-]{12,})", _mixed),
    _p("url", "://", r"://[^\s/:@]{0,256}:([^\s/]{1,512})@"),
    _p("signature", "ig= ignature=", r"[?&](?:sig|X-Amz-Signature|Signature)=([A-Za-z0-9%+/=_-]{16,})"),
)

# Triggers of secrets that need no long run of characters.
_ALWAYS: Final = ("earer", "-----BEGIN", "://", "ig=", "ignature=")
# Nearly every secret has a long unbroken run of characters, and little clean text has. Bytes are mapped to run or
# no run by a table, which costs a tenth of a scan with a pattern; only in what is found, triggers are looked for.
_RUN: Final = re.compile(r"(?a:\b[\w-]{16,})")
_LONG: Final = b"x" * 16
_RUN_OR_NOT: Final = bytes(
    ord("x" if re.fullmatch(rb"[\w-]", bytes((byte,))) else " ") for byte in range(256)
)
_BY_TRIGGER: Final = {trigger: pattern for pattern in PATTERNS for trigger in pattern.triggers}
_IN_RUN: Final = tuple(
    each for each in _BY_TRIGGER if re.fullmatch(r"(?a:[\w-]+)", each) and each not in _ALWAYS
)
_ANY_IN_RUN: Final = re.compile("|".join(map(re.escape, _IN_RUN)))
_BESIDE_RUN: Final = tuple(each for each in _BY_TRIGGER if each not in _IN_RUN and each not in _ALWAYS)


def find(text: str, literals: Collection[str] = ()) -> list[Span]:
    """The secrets in *text*, from left to right, none overlapping; *literals* are secrets known by value."""
    if len(text) < SHORTEST:
        return []
    named = ":" in text or "=" in text or "--" in text or "%3" in text
    runs = _LONG in text.encode("utf-8", "surrogatepass").translate(_RUN_OR_NOT)
    if not (named or runs or literals or "earer" in text):
        return []
    spans = _matches(text, runs)
    if named:
        spans.extend(assigned(text))
    for literal in literals:
        at = text.find(literal)
        while at >= 0:
            spans.append((at, at + len(literal), "secret"))
            at = text.find(literal, at + len(literal))
    return merged(spans) if spans else spans


def classify(secret: str) -> str:
    """The kind of a whole secret, from its own text alone, so that equal secrets are called the same."""
    for pattern in PATTERNS:
        match = pattern.regex.search(secret) if any(each in secret for each in pattern.triggers) else None
        if match is not None and match.span(match.lastindex or 0) == (0, len(secret)):
            return pattern.kind
    return "secret"


def _matches(text: str, runs: bool) -> list[Span]:
    triggers = [each for each in _ALWAYS if each in text]
    if runs:
        triggers.extend(each for run in _RUN.findall(text) for each in _ANY_IN_RUN.findall(run))
        triggers.extend(each for each in _BESIDE_RUN if each in text)
    spans: list[Span] = []
    for pattern in {_BY_TRIGGER[each].regex: _BY_TRIGGER[each] for each in triggers}.values():
        for match in pattern.regex.finditer(text):
            group = match.lastindex or 0
            if pattern.accept(match.group(group)):
                spans.append((match.start(group), match.end(group), pattern.kind))
    return spans


def merged(spans: list[Span]) -> list[Span]:
    """*spans* from left to right, overlapping ones as one."""
    spans.sort()
    apart: list[Span] = []
    for start, end, kind in spans:
        if start >= end:
            continue
        if not apart or start >= apart[-1][1]:
            apart.append((start, end, kind))
        elif end > apart[-1][1]:
            apart[-1] = (apart[-1][0], end, apart[-1][2])
    return apart
