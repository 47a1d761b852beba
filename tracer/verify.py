"""Is a run in the store what was written, entry by entry and object by object?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import codec
from .errors import IntegrityError
from .integrity import genesis
from .readings import Believed
from .recorder import Recorder
from .signing import Judged, record_bytes
from .store import objects, read
from .store.rows import EntryRow
from .tree import is_ref

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """What verifying one branch found."""

    run_id: str
    branch: str
    entries: int
    objects: int
    signed: bool
    problems: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """True when nothing was found."""
        return not self.problems


def damage_of(recorder: Recorder, run_id: str, branch: str) -> str:
    """The first damage of a chain, in words; empty when it is sound. Objects are checked when they are read."""
    return next(_chain(recorder, run_id, branch), "")


def signed_as(recorder: Recorder, run_id: str) -> Judged:
    """How a run is tagged, as its first entry says; damage of that entry is the chain's to find."""
    try:
        with recorder.store.reader.connect() as connection:
            stored = read.body(connection, run_id, read.MAIN, 1)
        start = {} if stored is None else objects.unpack_record(stored, f"{run_id} entry 1")
    except IntegrityError:
        start = {}
    return recorder.signing.judge(run_id, start)


def verify(recorder: Recorder, run_id: str, branch: str, progress: Progress | None = None) -> Report:
    """Check the whole chain and every object that its checkpoints reach."""
    problems = list(_chain(recorder, run_id, branch))
    checked: set[bytes] = set()
    with recorder.store.reader.connect() as connection:
        rows = read.entries_with_bodies(connection, run_id, branch, kinds=("checkpoint",))
        total = read.count_entries(connection, run_id, branch)
    for number, (entry, body) in enumerate(rows, 1):
        try:
            plain = objects.unpack_record(body, _name(entry))
            _reach(recorder, [plain["root"], plain["contract"]], checked)
        except IntegrityError as error:
            problems.append(f"{_name(entry)}: {error}")
        except (KeyError, TypeError) as error:
            problems.append(
                f"{_name(entry)}: its body is no checkpoint of ours, {error!r} is missing or of another kind"
            )
        if progress is not None:
            progress(number, len(rows))
    return Report(run_id, branch, total, len(checked), signed_as(recorder, run_id).signed, tuple(problems))


def _chain(recorder: Recorder, run_id: str, branch: str) -> Iterator[str]:
    try:
        judged = signed_as(recorder, run_id)
        with recorder.store.reader.connect() as connection:
            head = read.head(connection, run_id, branch)
            rows = read.entries_with_bodies(connection, run_id, branch)
            run = read.run_by_id(connection, run_id, branch)
            calls = read.calls_with_values(connection, run_id, branch)
            questions = read.approvals(connection, run_id=run_id, name=branch)
    except IntegrityError as error:
        yield str(error)
        return
    if head is None or run is None:
        yield f"{run_id}: it is not in the store"
        return
    if judged.problem:
        yield f"{run_id}: {judged.problem}"
        if not judged.readable:
            return
    tag, expected, sequence = genesis(run_id, branch), 1, 0
    believed = Believed()
    for entry, stored in rows:
        if entry.entry != expected:
            yield f"entry {expected} is missing"
            return
        try:
            body = objects.unpack(stored, _name(entry))
        except IntegrityError as error:
            yield str(error)
            return
        if entry.sequence is not None:
            sequence += 1
            if entry.sequence != sequence:
                yield f"{_name(entry)}: checkpoint {entry.sequence} stands where {sequence} belongs"
                return
        tag = judged.tag(tag, record_bytes(entry, body))
        if tag != entry.tag:
            yield f"{_name(entry)}: its tag does not fit what it holds; it was changed after it was written"
            return
        believed.take(entry, body)
        expected += 1
    if (head.head_entry, head.head_sequence, head.head_tag) != (expected - 1, sequence, tag):
        yield f"the head names entry {head.head_entry}, the journal ends at {expected - 1}"
        return
    yield from believed.differences(run, calls, questions)


def _reach(recorder: Recorder, plains: list[Any], checked: set[bytes]) -> None:
    """Read (and so check) every object that *plains* lead to and that was not checked before."""
    level = plains
    while level:
        wanted = {digest for plain in level for digest in _digests(plain)} - checked
        found = recorder.get(wanted)
        checked |= wanted
        level = [codec.decode(data) for data in found.values()]


def _digests(plain: Any) -> Iterator[bytes]:
    stack = [plain]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if is_ref(item):
                yield bytes.fromhex(item["$#"])
            elif "$p" in item:
                yield bytes.fromhex(item["$p"])
                stack.append(item["o"])
            elif "$t" in item:
                yield from (bytes.fromhex(digest) for digest, _ in item["$t"])
            else:
                stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def _name(entry: EntryRow) -> str:
    return f"{entry.run_id} entry {entry.entry}"
