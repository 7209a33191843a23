"""From an episode's history to the next prompt."""

from __future__ import annotations

from core.feedback.verdict import FailureType
from core.memory.entry import MemoryEntry
from core.prompts.layout import Prompt
from core.prompts.memories import Attempt, Experience
from core.question import Question
from core.repair.equipment import Equipment
from core.repair.history import History
from core.run.events import AttemptJudged, MemoriesRetrieved


def initial(equipment: Equipment, question: Question) -> Prompt:
    """The prompt of the first prediction; without notes, also of a fresh draft."""
    return equipment.prompts.initial(question.text, equipment.schema_text(question), question.evidence)


def revision(equipment: Equipment, history: History) -> Prompt:
    """The prompt of the next repair, by the strategy's way of asking."""
    return _WAYS[equipment.strategy.asks](equipment, history)


def reflection(equipment: Equipment, history: History) -> Prompt:
    """The prompt of a reflection on all attempts so far."""
    question = history.question
    return equipment.prompts.reflection(
        question.text, equipment.schema_text(question), question.evidence, _attempts(equipment, history)
    )


def _revise(equipment: Equipment, history: History) -> Prompt:
    question = history.question
    return equipment.prompts.repair(
        question.text,
        equipment.schema_text(question),
        question.evidence,
        _attempts(equipment, history),
        layout=equipment.layout,
        shows=equipment.strategy.shows,
    )


def _afresh(equipment: Equipment, history: History) -> Prompt:
    """A draft from the initial prompt; what was learned from the failures goes in as facts, and
    beside them what the strategy's table of drafts says."""
    question, attempt = history.question, history.last.attempt + 1
    draft = equipment.strategy.draft(history.drafts + 1)
    retrieved = history.retrieved.get(attempt)
    taken = _taken(retrieved) if retrieved else {}
    examples = taken.pop("example", ())
    return equipment.prompts.fresh(
        question.text,
        equipment.schema_text(question),
        question.evidence,
        values=equipment.values(question.database) if draft.values else (),
        hints=history.hints,
        lessons=[entry for channel in taken.values() for entry in channel if entry not in examples],
        examples=examples,
        remarks=list(filter(None, map(_said, history.attempts))),
        database=question.database,
    )


_WAYS = {"revise": _revise, "afresh": _afresh}


def _attempts(equipment: Equipment, history: History) -> list[Attempt]:
    return [_attempt(equipment, history, attempt) for attempt in history.attempts]


def _attempt(equipment: Equipment, history: History, judged: AttemptJudged) -> Attempt:
    retrieved = history.retrieved.get(judged.attempt + 1)
    return Attempt(
        sql=judged.sql,
        status=judged.status,
        failure=judged.failure or FailureType.UNKNOWN,
        message=judged.message,
        remark=_said(judged),
        hints=tuple(hint for hint in history.hints if hint.attempt == judged.attempt),
        experience=_experience(retrieved, reflective=equipment.strategy.shows == "reflections"),
        reflection=history.reflections.get(judged.attempt, ""),
    )


def _experience(retrieved: MemoriesRetrieved | None, *, reflective: bool) -> Experience:
    if retrieved is None:
        return Experience()
    if reflective:
        return Experience(reflective=retrieved.entries)
    taken = _taken(retrieved)
    return Experience(
        positives=taken.get("positive", ()),
        negatives=taken.get("negative", ()),
        mixed=taken.get("mixed", ()),
    )


def _taken(retrieved: MemoriesRetrieved) -> dict[str, tuple[MemoryEntry, ...]]:
    """What each channel gave to the prompt, best first."""
    by_id = {entry.id: entry for entry in retrieved.entries}
    return {
        channel.channel: tuple(by_id[each.id] for each in channel.candidates[: channel.taken])
        for channel in retrieved.retrieval.channels
    }


def _said(judged: AttemptJudged) -> str:
    """A person's remark on an attempt. A regime that confirms nothing speaks in its own name."""
    return judged.remark if judged.confirmed else ""
