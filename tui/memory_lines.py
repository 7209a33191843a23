"""How `merito memory` words what it prints: each thing as plain data, and that data as text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import click
import msgspec

from core.memory.entry import ChannelRetrieval, MemoryEntry, ReviewState
from core.wording import counted
from stores.library import EntryUsage
from tui.view import wrapping
from tui.view.legible import legible, one_line

_LONGEST = 4_000
"""Characters of one part of a memory on a terminal."""


def say(thing: dict[str, Any], as_json: bool, in_words: Callable[[dict[str, Any]], str]) -> None:
    """Print a thing as one JSON object, or in words."""
    if as_json:
        click.echo(msgspec.json.encode(thing))
    else:
        wrapping.say(in_words(thing))


def fitting(text: str, limit: int) -> str:
    """`text` on one line: cut after `limit` characters on a terminal, whole in a pipe, where no width
    is to be saved."""
    return one_line(text, _room(text, limit))


def _room(text: str, limit: int) -> int:
    return limit if wrapping.width_of(sys.stdout) is not None else max(limit, len(text))


def listed(entry: MemoryEntry, state: ReviewState, usage: EntryUsage) -> dict[str, Any]:
    """A memory as lists show it."""
    return {
        "id": entry.id,
        "state": state.value,
        "polarity": entry.polarity.value,
        "failure": entry.failure.value,
        "database": entry.context.database,
        "question": entry.context.question,
        "run": entry.provenance.run,
        "position": entry.provenance.position,
        "strategy": entry.provenance.strategy,
        "confirmed": entry.confirmed,
        "retrieved": usage.retrieved,
        "episodes": usage.episodes,
        "repaired": usage.repaired,
    }


def row(shown: dict[str, Any]) -> str:
    """A listed memory on one line."""
    kind = f"{shown['state']:<8} {shown['polarity']:<8} {shown['failure']:<15}"
    used = f"used in {shown['episodes']}, repaired {shown['repaired']}"
    what = f"{fitting(shown['database'], 40)}: {fitting(shown['question'], 100)}"
    return f"{shown['id'][:12]:<12}  {kind}  {what}  ({used})"


def page(whole: dict[str, Any]) -> str:
    """A whole memory, one part a line; a part's further lines are indented."""
    entry, context = whole["entry"], whole["entry"]["context"]
    parts = (
        ("memory", whole["id"]),
        ("state", whole["state"]),
        ("kind", f"{whole['polarity']}, {whole['failure']}"),
        ("database", context["database"]),
        ("question", context["question"]),
        ("evidence", context.get("evidence", "")),
        ("failed", context["failed_sql"]),
        ("observed", f"{context['status']} {context.get('message', '')}".strip()),
        ("revised", entry["revised_sql"]),
        ("outcome", f"{entry['outcome']} {entry.get('outcome_message', '')}".strip()),
        ("changed", "\n".join(entry["delta"])),
        ("learned", f"run {whole['run']}, position {whole['position']}, strategy {whole['strategy']}"),
        ("used", f"in {counted(whole['episodes'], 'episode')}, {whole['repaired']} of them repaired"),
        ("history", "\n".join(decision_line(decision) for decision in whole["history"])),
    )
    return "\n".join(
        f"{name + ':':<10} "
        + legible(str(text), _room(str(text), _LONGEST)).replace("\n", "\n" + " " * 11)
        for name, text in parts
        if text
    )


def decision_line(decision: dict[str, Any]) -> str:
    """A review decision on one line."""
    when = datetime.fromtimestamp(decision["at"]).astimezone()
    remark = f": {fitting(decision['remark'], 1_000)}" if decision["remark"] else ""
    who = fitting(decision["who"], 60)
    return f"{decision['memory'][:12]} {decision['state']} by {who}, {when:%Y-%m-%d %H:%M}{remark}"


def channel_lines(
    channel: ChannelRetrieval, known: Mapping[str, MemoryEntry], explain: bool
) -> list[str]:
    """One polarity's retrieval: its pools, then what goes into the prompt (*), then the rest."""
    narrowed = f"{channel.typed} of this type"
    if channel.fallback:
        narrowed += ", too few, so all types"
    lines = [f"{channel.channel}: {channel.legal} legal, {narrowed}, {channel.pool} ranked"]
    for ranked in channel.candidates if explain else channel.candidates[: channel.taken]:
        mark = "*" if ranked.rank <= channel.taken else " "
        context = known[ranked.id].context
        lines.append(
            f" {mark}{ranked.rank:>3}  {ranked.score:.3f}  dense {ranked.dense:.3f}"
            f"  bm25 {ranked.bm25:.2f}  {ranked.id[:12]}"
            f"  {fitting(context.database, 40)}: {fitting(context.question, 90)}"
        )
    return lines


def violation_line(violation: dict[str, Any]) -> str:
    """What an audit found, on one line."""
    return fitting(violation["text"], 1_000)


def audit_line(total: dict[str, Any]) -> str:
    """What an audit looked at."""
    wrong = counted(total["violations"], "violation") if total["violations"] else "no violation"
    memories = counted(total["memories"], "memory", "memories")
    return f"{counted(total['retrievals'], 'retrieval')} with {memories} checked: {wrong}."


def export_line(written: dict[str, Any]) -> str:
    """One file of an export."""
    return f"{counted(written['memories'], 'memory', 'memories')} in {fitting(written['file'], 1_000)}"


def import_line(taken: dict[str, Any]) -> str:
    """What an import brought."""
    twice = f", {taken['duplicates']:,} repeated in the files" if taken["duplicates"] else ""
    new = counted(taken["new"], "new memory", "new memories")
    return f"{new}, {taken['known']:,} known before{twice}."
