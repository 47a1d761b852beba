"""How is a set of plain English words written down?

The engine knows names of tools and fields only through such sets, and each set is a hint: what a tool
declares and what the baselines show come first.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())
