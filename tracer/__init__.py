"""How does an agent that stopped continue the same task, provably? The public API stands here."""
