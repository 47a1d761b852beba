"""Case 09: three tools in one step; the third dies after the first two have happened."""

STEP = [
    ("charge", {"order": "o-7", "amount": 1250}),
    ("refund", {"order": "o-7"}),
    ("notify", {"channel": "ops"}),
]
RESULTS = {"charge": {"charge": "ch_1"}, "refund": {"ok": True}, "notify": {"ok": True}}
EXPECTED = ["charge o-7 1250", "refund o-7", "notify ops"]
