"""Where do the templates and static files lie, in a wheel and in a checkout?"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The absolute path of `templates` or `static`: inside the package (wheel), else beside it (checkout).

    Raises FileNotFoundError naming both places when neither has it.
    """
    places = (_PACKAGE / name, _PACKAGE.parent / name)
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f"The inspector's {name!r} folder is neither at {places[0]} nor at {places[1]}. Reinstall waypost."
    )
