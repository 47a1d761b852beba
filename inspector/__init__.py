"""The web inspector: what stopped, what is safe, what is not, what to press."""
