"""The method: questions, databases, feedback, memory, prompts, models, repair, runs.

Nothing here draws on a terminal or writes to a store; the rooms are listed in `CONTRIBUTING.md`.
"""
