"""`merito memory`: what was learned, who decided about it, and whether it was used lawfully."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Polarity, ReviewDecision, ReviewState
from tui import options

if TYPE_CHECKING:
    from core.memory.entry import Retrieval
    from stores.store import Store

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


def choice(kind: Any) -> click.Choice[str]:
    """The values of an enumeration, in any case."""
    return click.Choice([member.value for member in kind], case_sensitive=False)


@click.group(
    epilog="""\b
Examples:
  merito memory list --state pending
  merito memory approve 3f2a --remark "holds for every shop database"
  merito memory search --question "How many orders were late?" --explain --json
  merito memory audit"""
)
def command() -> None:
    """List, search, review, export, import and audit memories."""


@command.command(
    "list", epilog="\b\nExample:\n  merito memory list --database shop --text weight --json"
)
@click.option("--polarity", type=choice(Polarity), help="Positive or negative.")
@click.option("--type", "failure", type=choice(FailureType), help="Failure type.")
@click.option("--database", help="Database they were learned on.")
@click.option("--state", type=choice(ReviewState), help="Review state.")
@click.option("--run", help="Run that taught them; the beginning of its id is enough.")
@click.option("--text", default="", help="Words that all occur; beginnings count.")
@click.option("--limit", type=click.IntRange(min=0), help="At most so many.")
@options.store
@as_json
def list_memories(store: Path | None, as_json: bool, run: str | None, **wanted: Any) -> None:
    """List memories, oldest first; with --text, the best match first."""
    from stores.library import EntryFilter, EntryUsage
    from tui.memory_lines import listed, row, say

    with _open(store) as opened:
        chosen = EntryFilter(run=run and opened.teaching_run(run), **wanted)
        entries = opened.entries(chosen)
        states, usages = opened.review_states(), opened.usages()
    for entry in entries:
        say(listed(entry, states[entry.id], usages.get(entry.id, EntryUsage())), as_json, row)
    if not (entries or as_json):
        click.echo("No memory fits." if states else "Nothing was learned yet.", err=True)


@command.command(
    "show",
    short_help="Show one memory with its history.",
    epilog="\b\nExample:\n  merito memory show 3f2a --json",
)
@click.argument("memory")
@options.store
@as_json
def show(memory: str, store: Path | None, as_json: bool) -> None:
    """Show one MEMORY with its history; the beginning of its id is enough."""
    import msgspec

    from tui.memory_lines import listed, page, say

    with _open(store) as opened:
        entry = opened.entry(memory)
        whole = {
            **listed(entry, opened.review_states([entry.id])[entry.id], opened.usage(entry.id)),
            "history": msgspec.to_builtins(opened.history(entry.id)),
            "entry": msgspec.to_builtins(entry),
        }
    say(whole, as_json, page)


def _reviewing(about: str, short: str) -> Callable[[Callable[..., None]], click.Command]:
    """What approve, reject and restore have in common."""
    example = f'\b\nExample:\n  merito memory {about} 3f2a 90bc --remark "why"'

    def decorate(function: Callable[..., None]) -> click.Command:
        for option in (
            as_json,
            options.store,
            options.person,
            click.option("--remark", default="", help="Why."),
            click.argument("memories", nargs=-1, required=True),
        ):
            function = option(function)
        return command.command(about, short_help=short, epilog=example)(function)

    return decorate


@_reviewing("approve", "Let memories be retrieved.")
def approve(**asked: Any) -> None:
    """Let MEMORIES be retrieved; the beginning of an id is enough."""
    _review(lambda _store, **signed: ReviewDecision(state=ReviewState.APPROVED, **signed), **asked)


@_reviewing("reject", "Keep memories from ever being retrieved.")
def reject(**asked: Any) -> None:
    """Keep MEMORIES from ever being retrieved; the beginning of an id is enough."""
    _review(lambda _store, **signed: ReviewDecision(state=ReviewState.REJECTED, **signed), **asked)


@_reviewing("restore", "Take back the last decision about memories.")
def restore(**asked: Any) -> None:
    """Take back the last decision about MEMORIES; that is a decision too, and can be taken back."""
    _review(lambda opened, **signed: opened.undo_of(**signed), **asked)


def _review(
    decide: Callable[..., ReviewDecision],
    *,
    memories: tuple[str, ...],
    remark: str,
    who: str | None,
    store: Path | None,
    as_json: bool,
) -> None:
    import msgspec

    from tui import settings
    from tui.memory_lines import decision_line, say

    signed = {"who": settings.person(who), "at": time.time(), "remark": remark}
    with _open(store, write=True) as opened:
        ids = dict.fromkeys(opened.entry(name).id for name in memories)
        decisions = [decide(opened, memory=one, **signed) for one in ids]
        opened.review(*decisions)
    for decision in decisions:
        say(msgspec.to_builtins(decision), as_json, decision_line)


@command.command(
    "search",
    short_help="Ask memory as a failed attempt would, and see why.",
    epilog="""\b
Examples:
  merito memory search --question "How many late orders?" --error "no such column: late"
  merito memory search --question Q --sql S --type "Result Mismatch" --explain --json""",
)
@click.option("--question", required=True, help="The question that was asked.")
@click.option("--sql", default="", help="The SQL that failed.")
@click.option("--error", "message", default="", help="The DBMS's message.")
@click.option("--status", type=choice(Status), help="Default: told by --error.")
@click.option("--type", "failure", type=choice(FailureType), help="Default: told by status and error.")
@click.option("--database", help="The question's database.")
@click.option("--position", type=click.IntRange(min=0), help="Only what was learned before it.")
@click.option("--run", help="Only what this run taught.")
@click.option("--strategy", default="merit", show_default=True, help="Whose retrieval.")
@click.option("--include-pending", is_flag=True, help="What nobody reviewed yet as well.")
@click.option("--explain", is_flag=True, help="Every candidate, with its text.")
@options.store
@as_json
def search(store: Path | None, as_json: bool, explain: bool, **described: Any) -> None:
    """Ask memory as a failed attempt would, and see why it answers what it does.

    A memory that is rejected, pending, or learned from the same question is no candidate.
    """
    import asyncio

    from tui.memory_lines import channel_lines, say
    from tui.recall import Inquiry, as_object
    from tui.view import wrapping

    if described["status"]:
        described["status"] = Status(described["status"])
    if described["failure"]:
        described["failure"] = FailureType(described["failure"])
    with _open(store) as opened:
        retrieval, known = asyncio.run(_searched(opened, Inquiry(**described)))
    if as_json:
        say(as_object(retrieval, explain), True, str)
        return
    for channel in retrieval.channels:
        for line in channel_lines(channel, known, explain):
            wrapping.say(line)


async def _searched(opened: Store, inquiry: Any) -> tuple[Retrieval, dict[str, MemoryEntry]]:
    from core.memory.embedding import DEFAULT_MODEL, EncoderProcess
    from tui import settings
    from tui.recall import search as search_in

    encoder = EncoderProcess(settings.value("encoder") or DEFAULT_MODEL, log=settings.log_file())
    try:
        retrieval = await search_in(opened, inquiry, encoder)
    finally:
        await encoder.close()
    ids = {ranked.id for channel in retrieval.channels for ranked in channel.candidates}
    return retrieval, {entry.id: entry for entry in opened.entries() if entry.id in ids}


@command.command(
    "export",
    short_help="Write memories with their reviews into a folder.",
    epilog="\b\nExample:\n  merito memory export lessons/ --state approved",
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--database", help="Only those learned on it.")
@click.option("--state", type=choice(ReviewState), help="Only those in this review state.")
@click.option("--run", help="Only what this run taught.")
@click.option("--redact", is_flag=True, help="Replace literals, values in questions, remarks, names.")
@options.store
@as_json
def export(
    folder: Path, store: Path | None, as_json: bool, run: str | None, redact: bool, **wanted: Any
) -> None:
    """Write memories with their reviews into FOLDER, one a line: positives.jsonl, negatives.jsonl.

    Files of these names that are there already are replaced.
    """
    from core.memory.jsonl import FILES, Reviewed, write
    from stores.library import EntryFilter
    from tui.memory_lines import export_line, say

    with _open(store) as opened, opened.snapshot():
        entries = opened.entries(EntryFilter(run=run and opened.teaching_run(run), **wanted))
        reviewed = [Reviewed(entry=entry, reviews=tuple(opened.history(entry.id))) for entry in entries]
    if redact:
        from core.redaction.redacting import Redaction

        reviewed = Redaction.of_entries(entries).reviewed(reviewed)
    for polarity, count in write(folder, reviewed).items():
        written = {"file": str(folder / FILES[polarity]), "memories": count}
        say(written, as_json, export_line)


@command.command(
    "import",
    short_help="Take in memories from files or exported folders.",
    epilog="\b\nExample:\n  merito memory import lessons/",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@options.store
@as_json
def import_memories(files: tuple[Path, ...], store: Path | None, as_json: bool) -> None:
    """Take in memories from FILES, or from folders that an export wrote.

    All come in or none; what is stored already stays as it is, its reviews too.
    """
    from core.memory.jsonl import read_some
    from tui.memory_lines import import_line, say

    imported = read_some(files)
    entries = [memory.entry for memory in imported.memories]
    reviews = {memory.entry.id: memory.reviews for memory in imported.memories}
    with _open(store, write=True, create=True) as opened:
        new = opened.keep(entries, at=time.time(), reviews=reviews)
    result = {"new": new, "known": len(entries) - new, "duplicates": imported.duplicates}
    say(result, as_json, import_line)


@command.command(
    "audit",
    short_help="Check that every memory ever retrieved was legal.",
    epilog="\b\nExample:\n  merito memory audit --json",
)
@click.argument("runs", nargs=-1)
@options.store
@as_json
def audit(runs: tuple[str, ...], store: Path | None, as_json: bool) -> None:
    """Check that every memory ever retrieved was legal for the question it served.

    The whole store is checked, or only RUNS. Exits with 1 and one line for each violation where
    there is one; with --json the last object counts what was checked.
    """
    import msgspec

    from stores.audit import Audit
    from tui.memory_lines import audit_line, say, violation_line

    with _open(store) as opened:
        auditor = Audit(opened)
        chosen = frozenset(opened.run(name).id for name in runs) or None
        found = [msgspec.to_builtins(violation) for violation in auditor.violations(chosen)]
        found += [{"rule": "store", "text": difference} for difference in opened.check()]
    for violation in found:
        say(violation, as_json, violation_line)
    total = {
        "retrievals": auditor.retrievals,
        "memories": auditor.checked,
        "violations": len(found),
    }
    say(total, as_json, audit_line)
    if found:
        raise click.exceptions.Exit(1)


def _open(path: Path | None, *, write: bool = False, create: bool = False) -> Store:
    from stores.store import Store
    from tui import settings

    where = settings.store_path(None if path is None else str(path))
    return Store.open(where, mode="review" if write else "read", create=create)
