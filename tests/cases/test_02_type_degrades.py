"""Case 02: typed state comes back as what it was, under its new name, or as an explicit Opaque; never hollow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases.inputs.case_02 import Artifact, Finding, Mood, build
from tracer import codec
from tracer.errors import NotStorable, UnknownType
from tracer.types import Opaque, Registry, register, register_from_annotations


@pytest.fixture
def stored() -> bytes:
    """The state as a process wrote it that knew the classes."""
    known = Registry()
    register_from_annotations(Finding, registry=known)
    register(Mood, registry=known)
    return codec.encode(codec.lower(build(), registry=known))


def test_in_the_same_program_every_type_is_exactly_what_it_was(stored: bytes) -> None:
    known = Registry()
    for cls in (Finding, Artifact.Phase, Mood):
        register(cls, registry=known)
    value = codec.lift(codec.decode(stored), registry=known, strict=True)
    assert value == build()
    assert value["phase_by_id"]["f-1"] is Artifact.Phase.READY
    assert value["mood"] is Mood.CALM
    finding = value["findings"][0]
    assert (type(finding), finding.phase, finding.digest) == (Finding, Artifact.Phase.READY, "1-f")


def test_a_renamed_class_is_loaded_as_the_new_one_and_noted_for_the_resume_log(stored: bytes) -> None:
    known = Registry()
    register(
        Finding, name="evidence:EvidenceItem", aliases=["tests.cases.inputs.case_02:Finding"], registry=known
    )
    register(Artifact.Phase, registry=known)
    register(Mood, registry=known)
    notes: list[str] = []
    assert codec.lift(codec.decode(stored), registry=known, strict=True, notes=notes) == build()
    assert notes == [
        "$.findings[0]: tests.cases.inputs.case_02:Finding was loaded as evidence:EvidenceItem",
    ]


def test_a_class_that_is_gone_is_opaque_or_refused_with_name_and_path_never_a_dict(stored: bytes) -> None:
    known = Registry()
    register(Mood, registry=known)
    value: Any = codec.lift(codec.decode(stored), registry=known)
    assert type(value["findings"][0]) is Opaque
    assert value["findings"][0].type == "tests.cases.inputs.case_02:Finding"
    assert codec.encode(codec.lower(value, registry=known)) == stored
    with pytest.raises(UnknownType) as refused:
        codec.lift(codec.decode(stored), registry=known, strict=True)
    assert refused.value.path in ("$.findings[0]", "$.phase_by_id.f-1", "$.phase_by_id['f-1']")


def test_a_gate_sees_the_gone_types_before_any_tool_or_model_call(stored: bytes) -> None:
    unknown = codec.unknown_types(codec.decode(stored), registry=Registry())
    assert [(each.path, each.type.rpartition(":")[2]) for each in unknown] == [
        ("$.findings[0]", "Finding"),
        ("$.mood", "Mood"),
        ("$.phase_by_id['f-1']", "Artifact.Phase"),
    ]


def test_what_could_not_be_loaded_again_is_refused_when_it_is_written() -> None:
    with pytest.raises(NotStorable, match=r"\$.*tracer\.register\("):
        codec.lower(build(), registry=Registry())
