"""Which earlier runs does a document hold that another tool wrote?

`runs_of` takes parsed JSON and recognises OpenAI chat messages with tool calls, OTLP JSON with GenAI or
OpenInference spans, and plain run records. Pure: reading the file is the caller's part.
"""

from .documents import Imported, runs_of

__all__ = ["Imported", "runs_of"]
