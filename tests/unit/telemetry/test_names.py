"""Are the names ours, or those of the conventions; and do they stand in one place only?"""

from __future__ import annotations

import ast
from pathlib import Path

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from tracer.telemetry import names

STRINGS = {name: value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}
DRAFT = {
    "gen_ai.agent.checkpointed",
    "gen_ai.agent.paused",
    "gen_ai.agent.resumed",
    "gen_ai.agent.execution.id",
    "gen_ai.agent.pause.id",
    "gen_ai.agent.pause.reason",
    "gen_ai.agent.checkpoint.id",
    "gen_ai.agent.resumed_from.type",
    "gen_ai.agent.resumed_from.id",
}


def test_nothing_under_gen_ai_is_invented() -> None:
    known = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    ours = {name: value for name, value in STRINGS.items() if value.startswith("gen_ai.")}
    stable = {value for name, value in ours.items() if not name.startswith("DRAFT_")}
    assert stable <= known
    assert {value for name, value in ours.items() if name.startswith("DRAFT_")} == DRAFT


def test_a_name_of_the_draft_is_never_used_for_something_stable() -> None:
    stable = {value for name, value in STRINGS.items() if not name.startswith("DRAFT_")}
    assert not stable & DRAFT


def test_every_other_name_is_under_our_own_prefix_or_a_registered_one() -> None:
    prefixes = ("waypost.", "gen_ai.", "error.type", "service.name")
    dotted = {name: value for name, value in STRINGS.items() if "." in value and name != "SCOPE_VERSION"}
    assert {name: value for name, value in dotted.items() if not value.startswith(prefixes)} == {}


def test_telemetry_names_stand_in_one_module_only(root: Path) -> None:
    def literals(path: Path) -> list[str]:
        tree = ast.walk(ast.parse(path.read_text("utf-8")))
        texts = [(node.lineno, node.value) for node in tree if isinstance(node, ast.Constant)]
        return [
            f"{path.name}:{line} {text}"
            for line, text in texts
            if text in STRINGS.values() and "." in str(text)
        ]

    modules = [
        path for path in (root / "tracer").rglob("*.py") if path.parts[-2:] != ("telemetry", "names.py")
    ]
    found = [said for path in sorted(modules) for said in literals(path)]
    assert found == []


def test_every_stored_export_state_has_a_word() -> None:
    from tracer.store import tables

    states = {tables.NONE, tables.UNSAMPLED, tables.PENDING, tables.HANDED, tables.ACKED, tables.REFUSED}
    assert set(names.EXPORT_STATES) == states
    assert len(set(names.EXPORT_STATES.values())) == len(states)
