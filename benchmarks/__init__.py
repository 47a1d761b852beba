"""What does Waypost cost, against what its users have today? `python -m benchmarks` lists the figures."""
