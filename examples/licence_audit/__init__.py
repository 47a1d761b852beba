"""Under which licences do the distributions of an environment come, and who has to be asked about them?

`agent.py` is the agent as a user would write it; `harness.py` kills it and checks what is left.
Importing this package loads nothing, so that the ticket service starts with the standard library alone.
"""
