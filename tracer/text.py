"""Can this be stored as a text? What a program names (steps, labels, prompts) is asked before anything is written."""

from __future__ import annotations

from .errors import NotStorable


def storable(value: object, path: str) -> str:
    """*value* itself, when it is a text that can be written.

    Raises:
        NotStorable: it is something else, or holds half a character (a lone surrogate).
    """
    if not isinstance(value, str):
        raise NotStorable(path, type(value).__name__, "it is no text; give its `str(…)`.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        half = value[error.start]
        raise NotStorable(
            path,
            "str",
            f"character {error.start} is half a character ({half!r}); decode the text it came from with"
            " `errors='replace'`.",
        ) from None
    return value
