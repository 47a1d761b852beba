"""Which run or checkpoint does a person mean by `R`, `R@17` or `R@b2:17`? The one place that reads them.

Also the paths that point into a state, `$.plan[2].title`. Pure: nothing is looked up here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .errors import BadReference
from .ids import RUN_ID, valid_run_id

MAIN: Final = "main"
_REF: Final = re.compile(
    rf"(?P<run>{RUN_ID.pattern})(?:@(?:(?P<branch>{RUN_ID.pattern}):)?(?P<sequence>[1-9][0-9]{{0,17}}))?"
)
_STEP: Final = re.compile(
    r"\.(?P<name>[^.\[\]\"]+)|\[(?P<place>[0-9]{1,9})\]|\[\"(?P<quoted>(?:[^\"\\]|\\.)*)\"\]"
)
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """A run, or one of its checkpoints."""

    run_id: str
    branch: str = MAIN
    sequence: int | None = None
    """Number of the checkpoint, from 1; None: the run as a whole, or its last checkpoint."""

    def __str__(self) -> str:
        if self.sequence is None:
            return self.run_id
        branch = "" if self.branch == MAIN else f"{self.branch}:"
        return f"{self.run_id}@{branch}{self.sequence}"


def parse(text: str) -> Ref:
    """What *text* refers to.

    Raises:
        BadReference: it is none of the three forms; the message says what is wrong with it.
    """
    found = _REF.fullmatch(text)
    if found is None:
        raise BadReference(text, _wrong(text))
    sequence = found["sequence"]
    return Ref(found["run"], found["branch"] or MAIN, None if sequence is None else int(sequence))


def parse_run(text: str) -> str:
    """The run that *text* names.

    Raises:
        BadReference: it is malformed, or names a checkpoint.
    """
    ref = parse(text)
    if ref.sequence is not None:
        raise BadReference(text, "that is a checkpoint, and this takes a whole run.")
    return ref.run_id


def parse_checkpoint(text: str) -> Ref:
    """The checkpoint that *text* names.

    Raises:
        BadReference: it is malformed, or names a run without a checkpoint.
    """
    ref = parse(text)
    if ref.sequence is None:
        raise BadReference(text, f"that is a run, and this takes one checkpoint of it, such as {text}@1.")
    return ref


def parse_path(text: str) -> Path:
    """The steps of a path such as `$.plan[2]["a.b"]`, from the root `$`; `field` is short for `$.field`.

    Raises:
        BadReference: it is not a path; the message names the place.
    """
    rest = text if text[:1] == "$" else f"$.{text}"
    steps: list[str | int] = []
    at = 1
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            raise BadReference(
                text, f'no step begins at {rest[at:]!r}; write `.name`, `[3]` or `["any name"]`.'
            )
        if found["place"] is not None:
            steps.append(int(found["place"]))
        elif found["quoted"] is not None:
            steps.append(re.sub(r"\\(.)", r"\1", found["quoted"]))
        else:
            steps.append(found["name"])
        at = found.end()
    return tuple(steps)


def path_text(path: Path) -> str:
    """The inverse of `parse_path`."""
    out = "$"
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif _STEP.fullmatch(f".{step}"):
            out += f".{step}"
        else:
            quoted = step.replace("\\", "\\\\").replace('"', '\\"')
            out += f'["{quoted}"]'
    return out


def _wrong(text: str) -> str:
    run, at, rest = text.partition("@")
    if not valid_run_id(run):
        return "a run's id has letters, digits and `_.-`, at most 128 of them, and begins with a letter or digit."
    if at and not rest:
        return f"the number of the checkpoint is missing, as in {run}@17."
    branch, colon, number = rest.rpartition(":")
    if colon and not valid_run_id(branch):
        return f"{branch!r} cannot name a branch."
    return f"{number!r} is no number of a checkpoint; they count from 1."
