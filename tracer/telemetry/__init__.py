"""How does a journal become spans at a collector? Names, spans, the outbox, recovery and shutdown."""
