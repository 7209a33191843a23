"""What model calls take: one way of counting them, for the figures of a run and for experiments."""

from __future__ import annotations

import msgspec

from core.models.chat import Usage
from core.selection.selection import Spent

Answered = dict[tuple[int, int], tuple[Usage, float]]
"""Position and attempt -> what its answer took. An attempt that an interruption cut after its answer
is made again: only its last answer counts, so that a resumed run costs what an uninterrupted one does,
whatever was committed of the first try along with an attempt that was under way beside it."""


class Cost(msgspec.Struct, kw_only=True):
    """Model calls and what they took, in tokens and seconds."""

    calls: int = 0
    sent: int = 0
    """Tokens of the prompts."""
    cached: int = 0
    """Those of them that the engine still knew."""
    written: int = 0
    """Tokens of the answers."""
    uncounted: int = 0
    """Calls whose engine did not say how many tokens they took; they are missing in the sums."""
    seconds: float = 0.0

    @property
    def evaluated(self) -> int:
        """Prompt tokens that the engine really worked through."""
        return self.sent - self.cached

    @property
    def tokens(self) -> int:
        """Prompt and output tokens together: the paper's cost."""
        return self.sent + self.written

    def add(self, usage: Usage, seconds: float, times: int = 1) -> None:
        """Count one call; -1 times takes it back."""
        self.calls += times
        self.sent += times * (usage.prompt_tokens or 0)
        self.cached += times * (usage.cached_tokens or 0)
        self.written += times * (usage.output_tokens or 0)
        self.uncounted += times * (usage.prompt_tokens is None or usage.output_tokens is None)
        self.seconds += times * seconds

    def add_selection(self, spent: Spent) -> None:
        """Count the calls of a selection."""
        sent, evaluated = spent.tokens_sent or 0, spent.tokens_evaluated or 0
        self.calls += spent.calls
        self.sent += sent
        self.cached += sent - evaluated
        self.written += spent.tokens_written or 0
        self.uncounted += spent.calls if spent.tokens_sent is None else 0
        self.seconds += spent.seconds

    def plus(self, other: Cost) -> Cost:
        """Both together."""
        names = self.__struct_fields__
        return Cost(**{name: getattr(self, name) + getattr(other, name) for name in names})
