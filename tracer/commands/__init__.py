"""The commands of `waypost`, one noun per file; `tracer.cli` finds them by name."""
