"""Case 26: one tool returns more than any row should hold (30 MB in the report)."""


def tool_output(size: int = 4 * 1024 * 1024) -> bytes:
    return b"\x89PNG" + b"\0" * (size - 4)
