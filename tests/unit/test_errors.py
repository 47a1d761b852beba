"""Does every error say its docstring, keep its ids, and survive a process border?"""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

from tracer import errors

CLASSES = [
    cls
    for _, cls in inspect.getmembers(errors, inspect.isclass)
    if issubclass(cls, BaseException) and cls.__module__ == errors.__name__
]
SAMPLES: dict[str, Any] = {"int": 3, "float": 1.5, "str": "what", "tuple[str, ...]": ("one", "two")}


def sample(cls: type[BaseException]) -> BaseException:
    """One of *cls*, every parameter given."""
    parameters = inspect.signature(cls).parameters.values()
    return cls(*(SAMPLES[str(each.annotation)] for each in parameters))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_docstring_is_the_message_and_ids_survive_pickling(cls: type[BaseException]) -> None:
    error = sample(cls)
    assert str(error).startswith(" ".join((cls.__doc__ or "?").split("\n\n")[0].split()))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cls
    assert (str(again), again.__dict__) == (str(error), error.__dict__)


def test_the_tree_in_the_module_docstring_names_every_class() -> None:
    missing = [cls.__name__ for cls in CLASSES if cls.__name__ not in (errors.__doc__ or "")]
    assert missing == []


def test_a_pause_is_no_error_that_code_swallows() -> None:
    assert not issubclass(errors.Paused, Exception)
    assert all(issubclass(cls, errors.WaypostError) for cls in CLASSES if cls is not errors.Paused)
