"""Prompts: what the model is told, in which order (merit.md, "Prompts").

No builder takes gold SQL or gold rows in any form, so no prompt can hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from core.memory.entry import MemoryEntry
from core.models.chat import Message
from core.prompts.memories import (
    NONE,
    Attempt,
    attempt_list,
    bullets,
    example_list,
    experience_block,
    lesson_list,
    one_line,
)
from core.prompts.template import Templates, plain
from core.run.events import Hint

Layout = Literal["paper", "conversation"]
Shown = Literal["dual", "mixed", "reflections"]
"""How memories are shown: confirmed and failed apart, in one block, or as earlier reflections."""


class Prompt(msgspec.Struct, frozen=True):
    """One call's messages; nothing else is sent to the engine."""

    messages: tuple[Message, ...]
    template: str
    """Version ids of the templates that made it, joined by +."""
    purpose: str
    """initial, repair, fresh, reflection."""


class Prompts:
    """The builders over one set of templates."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def initial(self, question: str, schema_text: str, evidence: str = "") -> Prompt:
        """The prompt of the first prediction. Schema before question, so that questions about one
        database share the front."""
        return self._one("initial", "initial", _asked(question, schema_text, evidence))

    def repair(
        self,
        question: str,
        schema_text: str,
        evidence: str,
        attempts: Sequence[Attempt],
        *,
        layout: Layout = "paper",
        shows: Shown = "dual",
    ) -> Prompt:
        """The prompt for a revision of the last of `attempts` (at least one, oldest first).

        `paper`: one user message, in the paper's order of blocks. `conversation`: the initial
        prompt, then each attempt as the model's turn and its feedback as the user's, so that every
        prompt of an episode continues the one before and the engine's cache serves all of it but
        the new turn; a memory is shown once, with the first attempt that it was retrieved for.
        """
        asked = _asked(question, schema_text, evidence)
        return _LAYOUTS[layout](self, asked, attempts, shows)

    def fresh(
        self,
        question: str,
        schema_text: str,
        evidence: str = "",
        *,
        values: Sequence[str] = (),
        hints: Sequence[Hint] = (),
        lessons: Sequence[MemoryEntry] = (),
        examples: Sequence[MemoryEntry] = (),
        remarks: Sequence[str] = (),
        database: str = "",
    ) -> Prompt:
        """The initial prompt, with what earlier attempts taught as notes below the schema; their SQL
        stays out. What is not given is not shown; without any note this is the initial prompt itself.

        The question stays last: a small model answers what it read last, were it an example. Values
        come before facts, which come before lessons: what changes least within an episode stands
        first, so that the cache serves it. `database` is the question's own: its lessons come first.
        """
        notes = {
            "values": bullets(values),
            "facts": bullets(hint.text for hint in hints),
            "remarks": bullets(remarks),
            "lessons": lesson_list(self._templates, lessons, database),
            "examples": example_list(self._templates, examples),
        }
        if not any(notes.values()):
            return self._one("initial", "fresh", _asked(question, schema_text, evidence))
        template = self._templates["notes"]
        known = template.fill({**notes, "version": template.version})
        prompt = self._one("initial", "fresh", _asked(question, f"{schema_text}\n\n{known}", evidence))
        return Prompt(prompt.messages, f"{prompt.template}+{template.id}", prompt.purpose)

    def reflection(
        self, question: str, schema_text: str, evidence: str, attempts: Sequence[Attempt]
    ) -> Prompt:
        """Asks for a short verbal reflection on the failed attempts (Reflexion baseline)."""
        slots = _asked(question, schema_text, evidence)
        slots["failure"] = attempts[-1].failure
        slots["attempts"] = attempt_list(self._templates, "attempt-outcome", attempts)
        return self._one("reflection", "reflection", slots)

    def _one(self, name: str, purpose: str, slots: dict[str, str]) -> Prompt:
        """A prompt of one user message."""
        template = self._templates[name]
        text = template.fill({"version": template.version, **slots})
        return Prompt((_says("user", text),), template.id, purpose)

    def _paper(self, asked: dict[str, str], attempts: Sequence[Attempt], shows: Shown) -> Prompt:
        last = attempts[-1]
        slots = {
            **asked,
            **_feedback(last),
            "experience": experience_block(self._templates, shows, last.experience, NONE),
            "reflections": bullets(attempt.reflection for attempt in attempts) or NONE,
            "attempts": attempt_list(self._templates, "attempt", attempts),
        }
        return self._one("repair", "repair", slots)

    def _conversation(self, asked: dict[str, str], attempts: Sequence[Attempt], shows: Shown) -> Prompt:
        initial, turn = self._templates["initial"], self._templates["turn"]
        messages = [_says("user", initial.fill({"version": initial.version, **asked}))]
        shown: set[str] = set()
        for attempt in attempts:
            new = attempt.experience.without(shown)
            shown |= new.ids
            slots = {
                **_feedback(attempt),
                "version": turn.version,
                "evidence": "",
                "reflections": one_line(attempt.reflection),
                "experience": experience_block(self._templates, shows, new, "") if new.ids else "",
            }
            messages += [_says("assistant", _as_answer(attempt.sql)), _says("user", turn.fill(slots))]
        return Prompt(tuple(messages), f"{initial.id}+{turn.id}", "repair")


_LAYOUTS: dict[str, Callable[[Prompts, dict[str, str], Sequence[Attempt], Shown], Prompt]] = {
    "paper": Prompts._paper,
    "conversation": Prompts._conversation,
}


def _asked(question: str, schema_text: str, evidence: str) -> dict[str, str]:
    return {
        "question": one_line(question),
        "schema": schema_text.strip(),
        "evidence": evidence.strip(),
    }


def _feedback(attempt: Attempt) -> dict[str, str]:
    return {
        "status": attempt.status,
        "failure": attempt.failure,
        "message": one_line(attempt.message) or NONE,
        "remark": one_line(attempt.remark),
        "hints": bullets(hint.text for hint in attempt.hints),
    }


def _as_answer(sql: str) -> str:
    """An attempt as models that obey write it, so that the cache serves what they generated."""
    return f"<answer>{sql.strip()}</answer>"


def _says(role: Literal["user", "assistant"], text: str) -> Message:
    return Message(role, plain(text))
