"""Case 19: a value its own schema forbids, and a run written by a newer release."""

BAD = {"items": None, "owner": "u17"}
GOOD = {"items": ["a", "b"], "owner": "u17"}
NEWER = 9
