"""Why a console changes nothing, and where one is that does: the words for it, in one place."""

from __future__ import annotations

import msgspec


class Restraint(msgspec.Struct, frozen=True, kw_only=True):
    """What a console is that changes nothing, and the way to one that does."""

    what: str
    """Stands before a colon and what is therefore not done."""
    instead: str
    ask: str = ""
    """More about asking questions, on lines of its own."""

    def refuses(self, what: str) -> str:
        """One sentence: what is not done here."""
        return f"{self.what}: {what}."


BY_FLAG = Restraint(what="This console is read-only", instead="Start it without --read-only.")
SERVED = Restraint(
    what="This console is read-only",
    instead="Whoever serves it lets visitors change things with: merito serve --writable",
)
RECORDING = Restraint(
    what="This is a recording",
    instead="Open a console of your own in the shell: merito console",
    ask=(
        "\n\nAsk from the shell:\n  merito console --root FOLDER\n"
        '  merito ask shop.sqlite "Which customers never ordered?"'
    ),
)
