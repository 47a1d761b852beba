"""Where is a secret given under its name: `TOKEN=…`, `"api_key": "…"`, `--password …`, `Authorization: …`?

Also says which dict keys name a secret. A name is found by substring search; what follows is matched once,
and the search goes on behind it, so that no character is looked at twice for one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_VALUE: Final = re.compile(
    r"(?:[_-]?[0-9]{1,3})?(?:\\?[\"'])?(?P<sign>\s{0,4}(?:=>|:=|=|:|%3[DdAa])\s{0,4}|\s)"
    r"(?:(?:bearer|basic|token|digest|apikey)\s{1,4})?"
    r"(?:\\[\"'](?P<escaped>[^\"'\\\n]{4,}+)|\"(?P<double>(?:[^\"\\\n]|\\.){4,}+)|'(?P<single>(?:[^'\\\n]|\\.){4,}+)"
    r"|(?P<bare>[^\s\"'`;,&|<>(){}\[\]=\\]{4,}+={0,2}))",
    re.IGNORECASE,
)
_ROOTS: Final = {
    "token": re.compile("token", re.IGNORECASE),
    "secret": re.compile(r"secret(?:[_-]?(?:access[_-]?)?key|[_-]?token)?", re.IGNORECASE),
    "passw": re.compile(r"passw(?:or)?d", re.IGNORECASE),
    "passphrase": re.compile("passphrase", re.IGNORECASE),
    "pwd": re.compile("pwd", re.IGNORECASE),
    "key": re.compile("key", re.IGNORECASE),
    "credential": re.compile("credentials?", re.IGNORECASE),
    "authorization": re.compile("authorization", re.IGNORECASE),
    "cookie": re.compile("cookie", re.IGNORECASE),
}
_WHICH_KEYS: Final = (
    *("api", "access", "private", "account", "auth", "shared"),
    *("signing", "encryption", "secret", "master", "service", "storage"),
)
_CODE: Final = ("$", "<", "{", "%(", "os.", "self.", "env.", "process.env", "settings.", "config.", "***")

_SENSITIVE: Final = frozenset(
    re.findall(
        r"\w+",
        """
    accesskey accesskeyid accountkey apikey apitoken authkey authorization bearer clientsecret
    connectionstring cookie credential credentials cvv dsn encryptionkey masterkey otp passphrase passwd
    password pin privatekey proxyauthorization pwd sastoken secret secretaccesskey secretkey secrets
    sessionid sessionkey setcookie signingkey ssn token xapikey
        """,
    )
)
_ENDINGS: Final = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "privatekey",
    "secretkey",
    "accesskey",
)
_TOKENS: Final = re.compile(
    r"(?:access|refresh|auth|id|session|api|bearer|bot|user|oauth|service|personal|csrf|device|push|deploy|github"
    r"|gitlab|slack|hf|npm|security|webhook|^x[a-z]+)token$"
)
LONGEST_NAME: Final = 64
"""Characters; a longer first member of a pair is no name."""
_STEP: Final = re.compile(r"\[\d+\]")
_known: dict[str, bool] = {}


def sensitive(name: str) -> bool:
    """True when a dict key, or any step of a path, names a secret."""
    found = _known.get(name)
    if found is None:
        if len(_known) > 10_000:  # keys may be data
            _known.clear()
        found = _known[name] = any(map(_names_secret, plain_path(name).split(".")))
    return found


def plain_path(path: str) -> str:
    """*path* without its places in lists, which name nothing."""
    return _STEP.sub("", path)


def _names_secret(step: str) -> bool:
    bare = "".join(filter(str.isalnum, step)).lower()
    return bare in _SENSITIVE or bare.endswith(_ENDINGS) or _TOKENS.search(bare) is not None


def assigned(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, "secret") of every value in *text* that stands under the name of a secret."""
    low = text.lower()
    if len(low) != len(text):  # a letter whose small form is longer; the places must agree
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    for root, name in _ROOTS.items():
        at = low.find(root)
        while at >= 0:
            behind = at + len(root)
            if root != "key" or low[max(0, at - 12) : at].rstrip("_-").endswith(_WHICH_KEYS):
                named = name.match(text, at)
                match = named and _VALUE.match(text, named.end())
                if match:
                    group = match.lastgroup or "bare"
                    if _is_secret(root, low, at, match, group):
                        yield match.start(group), match.end(group), "secret"
                    behind = match.end()
            at = low.find(root, behind)


def _is_secret(root: str, low: str, at: int, match: re.Match[str], group: str) -> bool:
    value, sign = match.group(group), match.group("sign")
    if value.startswith(_CODE) or value.endswith("..."):
        return False
    digits = any(map(str.isdigit, value))
    if sign.isspace():  # an option of a command line, and nothing else
        start = low.rfind("--", max(0, at - 32), at)
        return start >= 0 and not any(map(str.isspace, low[start:at])) and not value.startswith("-")
    if group != "bare":
        return digits or not value.isalpha() or len(value) > 9
    if match.string[match.end() : match.end() + 1] in ("(", "["):
        return False
    if digits:
        return len(value) > 5 and not (value.isdigit() and root in ("token", "key"))
    if root == "authorization":
        return not value.islower()
    return sign in ("=", "%3d", "%3D") and len(value) > 7 and root not in value.lower()
