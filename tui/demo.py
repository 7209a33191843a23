"""The demonstration: which questions, in which order, and what is said about them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sample_dbs
from core.datasets.loading import load
from core.errors import MeritoError
from core.wording import counted
from tui.order import Order
from tui.replaying import opened, replayed, shelved
from tui.running import Began, perform
from tui.session import CannotGoOn, unfinished
from tui.shell_words import typed
from tui.view.wrapping import say

BUDGET = 4
"""K of the demonstration: enough for what can be repaired, and nobody waits for the rest."""


def order(common: dict[str, Any]) -> Order:
    """A run over the demonstration's questions, kept in the user's own store. Raises MeritoError
    where the sample databases are incomplete."""
    folder = sample_dbs.folder()
    ids = [str(each) for each in json.loads((folder / "demo.json").read_text(encoding="utf-8"))]
    by_id = {question.id: question for question in load(folder).questions}
    missing = [wanted for wanted in ids if wanted not in by_id]
    if missing:
        raise MeritoError(
            f"The demonstration names the question {missing[0]}, and the samples have none such.",
            "Rebuild them: python -m sample_dbs.build",
        )
    common = {**common, "budget": BUDGET if common.get("budget") is None else common["budget"]}
    return Order(stream=str(folder), questions=tuple(by_id[wanted] for wanted in ids), **common)


RECORDED_RUN = sample_dbs.folder() / "recorded.jsonl.gz"
"""A real run of the demonstration, for those who have no model yet."""


def play_recorded(*, plain: bool, as_json: bool) -> int:
    """Play the recording that Merito brings along, as `merito replay` would; the exit code. Raises
    MeritoError where it is missing."""
    from tui.running import told_again

    with opened(str(RECORDED_RUN), Path()) as take:
        if plain or as_json or not (sys.stdout.isatty() and sys.stdin.isatty()):
            return asyncio.run(told_again(replayed(take.events()), as_json))
        from tui.console.live import replay_in_console

        with shelved(take) as on_shelf:
            return replay_in_console(on_shelf, None, notice=NOTICE)


WORDS_BEFORE = (
    "A small Qwen model on this machine now answers questions about sample databases. Each first SQL "
    "is compared with the known answer. Where it is wrong, the model drafts again, helped by facts "
    "about the failure and by what earlier repairs taught."
)
"""What the reader is about to see."""


def watched(wanted: Order, *, fresh: bool, plain: bool, as_json: bool, began: Began) -> int:
    """Run it, or go on with what was left unfinished of it, and return the exit code. `fresh` begins
    anew in any case."""
    begun = None if fresh else unfinished(wanted)
    if begun is not None:
        say(
            f"The demonstration {begun} was left unfinished and goes on; --fresh begins anew.",
            err=as_json,
        )
    perform_it = partial(perform, wanted, plain=plain, as_json=as_json, began=began)
    try:
        return perform_it(resume=begun)
    except CannotGoOn as other:
        if begun is None:
            raise
        say(f"{other.problem} It stays as it is, and a new one begins.", err=as_json)
        return perform_it(resume=None)


NOTICE = "A recording: a small Qwen model answered these questions earlier, and nothing runs now."


@contextmanager
def recording_of(path: Path | None, *, told_aside: bool = False) -> Iterator[Began]:
    """Whatever run begins inside the block is recorded into `path` when the block ends, also where it
    was interrupted; with no path nothing is. Raises MeritoError, before anything has begun, where
    the file could not be written."""
    begun: list[tuple[str, Path]] = []
    if path is not None:
        _check_writable(path)
    try:
        yield lambda session: begun.append((session.run, session.store.path))
    finally:
        if path is not None and begun:
            run, store = begun[0]
            with opened(run, store) as take:
                events = take.export(path)
            say("", err=told_aside)
            words = f"Recorded {counted(events, 'event')}. Play them again:"
            say(words, command=typed("replay", str(path)), err=told_aside)


def _check_writable(path: Path) -> None:
    folder = path.expanduser().resolve().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise MeritoError(
            f"No recording can be written to {path}.", "Name another file: --record FILE."
        )
