"""How do rows of the store become page records? The only place that knows both."""
