"""The plain view: one readable line for each happening, for pipes, logs and screen readers.

No colour, no boxes, no cursor movement; words instead of signs. The same lines serve a live run
and a replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TextIO

from core.feedback.verdict import Status
from core.memory.entry import MemoryEntry
from core.run.events import (
    AnswerWritten,
    AnyEvent,
    AttemptJudged,
    CandidateDrawn,
    CandidatesSelected,
    EpisodeEnded,
    EpisodeStarted,
    JudgementAwaited,
    MemoriesRetrieved,
    ModelStumbled,
    PromptSent,
    ReflectionWritten,
    ReviewsApplied,
    RunEnded,
    RunResumed,
    RunStarted,
    SqlExecuted,
)
from core.run.figures import TAKEN, Figures
from core.wording import counted
from tui.view.acceptance import acceptance_of
from tui.view.difference import change_words
from tui.view.episode_view import MENDED
from tui.view.judging import KIND_WORDS
from tui.view.legible import cell_text, one_line
from tui.view.polarity import POLARITY_WORDS, change_of
from tui.view.run_view import RunView, attempt_words, resumed_words, reviews_words
from tui.view.selection_words import selection_words
from tui.view.summary import duration, model_words, summary
from tui.view.wrapping import lines_for

_SQL_LIMIT = 600
_CELL_LIMIT = 40
_ROWS = 3
_COLUMNS = 8
_CHANGES = 6


class PlainView:
    """Writes a run to `out`, line by line, as it happens."""

    def __init__(self, out: TextIO) -> None:
        self.view = RunView(keep=8)
        self._out = out
        self._speaking_of: int | None = None

    def show(self, event: AnyEvent) -> None:
        """Print what this event means for a reader; token deltas print nothing."""
        self.view.apply(event)
        lines = _LINES.get(type(event))
        if lines is None:
            return
        position = event.position if type(event) in _OF_EPISODE else None  # type: ignore[union-attr]
        for line in lines(self.view, event):
            if position is not None and position != self._speaking_of:
                self._speaking_of = position
                if not isinstance(event, EpisodeStarted):
                    self._write(f"back to {_title(self.view, position)}")
            self._write(line if position is None or isinstance(event, EpisodeStarted) else f"  {line}")
        self._out.flush()

    def summary(self) -> None:
        """Print what the run came to so far."""
        for line in summary_lines(self.view.figures):
            self._write(line)
        self._out.flush()

    def _write(self, line: str) -> None:
        for piece in lines_for(line, self._out):
            try:
                self._out.write(f"{piece}\n")
            except UnicodeEncodeError:
                encoding = self._out.encoding or "ascii"
                self._out.write(piece.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def summary_lines(figures: Figures) -> list[str]:
    """The summary as aligned lines under one heading."""
    heading = f"Summary of run {one_line(figures.run, 80)}" if figures.run else "Summary"
    lines = summary(figures)
    room = max(len(label) for label, _ in lines) + 1
    return [heading, *(f"  {label + ':':<{room}}  {value}" for label, value in lines)]


def _title(view: RunView, position: int) -> str:
    row = view.rows[position]
    place = f"question {position + 1} of {len(view.rows)}"
    return (
        f"{place}, database {one_line(row.question.database, 80)}: {one_line(row.question.text, 400)}"
    )


def _run_started(view: RunView, event: RunStarted) -> Iterator[str]:
    settings, budget = event.settings, view.budget
    repairs = f"at most {counted(budget, 'repair')} each" if budget else "no repairs"
    yield (
        f"Run {one_line(event.run, 80)}: {counted(len(event.questions), 'question')} of "
        f"{one_line(settings.dataset, 200)}, strategy {one_line(settings.strategy, 80)}, "
        f"{repairs}, {settings.memory} memory, "
        f"judged by {one_line(settings.regime, 80)}"
    )
    yield f"Model: {one_line(model_words(view.figures), 200)}"
    for problem in event.problems:
        yield f"Left out: {one_line(problem, 400)}"


def _run_resumed(_view: RunView, event: RunResumed) -> Iterator[str]:
    yield resumed_words(event)


def _reviews_applied(_view: RunView, event: ReviewsApplied) -> Iterator[str]:
    yield reviews_words(event)


def _episode_started(view: RunView, event: EpisodeStarted) -> Iterator[str]:
    yield ""
    title = _title(view, event.position)
    yield title[0].upper() + title[1:]
    if event.question.evidence:
        yield f"  evidence: {one_line(event.question.evidence, 400)}"


def _memories(view: RunView, event: MemoriesRetrieved) -> Iterator[str]:
    episode = view.episode(event.position)
    before = episode.attempts[event.attempt - 1].entries if episode and event.attempt else ()
    if before and before == event.entries:
        yield "memory: the same as before"
        return
    for channel in event.retrieval.channels:
        if not channel.legal:
            continue
        words = f"{channel.channel}: {channel.taken} of {counted(channel.pool, 'candidate')}"
        if channel.fallback:
            words += (
                f" (only {channel.typed} of the same failure type, so all {channel.legal} were ranked)"
            )
        yield f"memory: {words}"
    scores = {
        ranked.id: ranked for channel in event.retrieval.channels for ranked in channel.candidates
    }
    for entry in event.entries:
        yield f"  remembers {_memory_words(entry)}" + _score_words(scores.get(entry.id))
    if not event.entries:
        yield "memory: nothing to offer yet"


def _memory_words(entry: MemoryEntry) -> str:
    remembered = POLARITY_WORDS[entry.polarity].remembered
    source = f"question {entry.provenance.position + 1}, {entry.context.database}"
    return f"{remembered} ({one_line(source, 100)}): {one_line(change_of(entry), 240)}"


def _score_words(ranked: Any) -> str:
    if ranked is None:
        return ""
    return f" [score {ranked.score:.2f}: meaning {ranked.dense:.2f}, words {ranked.bm25:.1f}]"


def _prompt(_view: RunView, event: PromptSent) -> Iterator[str]:
    for hint in event.hints:
        yield f"hint: {one_line(hint.text, 300)}"


def _answer(view: RunView, event: AnswerWritten) -> Iterator[str]:
    name = attempt_words(event.attempt, view.budget)
    yield f"{name}: {one_line(event.sql, _SQL_LIMIT) or '(no SQL in the answer)'}"
    if event.reused:
        yield "  taken over from an earlier run, no model call"
    yield from _changed(view, event)
    if event.finish == "length":
        yield "  the answer was cut at the token limit"


def _changed(view: RunView, event: AnswerWritten | SqlExecuted) -> Iterator[str]:
    episode = view.episode(event.position)
    changed = episode.changes(event.attempt) if episode is not None else ()
    if changed:
        shown = "; ".join(one_line(change_words(change), 120) for change in changed[:_CHANGES])
        more = len(changed) - _CHANGES
        yield f"  changed: {shown}" + (f"; and {more} more" if more > 0 else "")


def _drawn(_view: RunView, event: CandidateDrawn) -> Iterator[str]:
    sql = one_line(event.sql, _SQL_LIMIT) or "(no SQL in the answer)"
    yield f"candidate {event.number + 1} (seed {event.sampling.seed}): {sql}"


def _selected(_view: RunView, event: CandidatesSelected) -> Iterator[str]:
    for line in selection_words(event.candidates, event.selection):
        yield one_line(line, _SQL_LIMIT)
    yield "the candidates " + ("agree on its result" if event.agreed else "do not agree on a result")


def _rows(view: RunView, event: SqlExecuted) -> Iterator[str]:
    if event.mended:
        name = attempt_words(event.attempt, view.budget)
        yield f"{name}: {one_line(event.sql, _SQL_LIMIT)}"
        yield f"  {MENDED}: {one_line(event.mended, 400)}"
        yield from _changed(view, event)
    result = event.result
    if result.error or not result.columns:
        return
    count = f"{result.row_count}{' or more' if result.truncated else ''}"
    yield f"  rows: {count}" + (f", first {_ROWS}" if len(result.rows) > _ROWS else "")
    for row in result.rows[:_ROWS]:
        cells = ", ".join(
            f"{one_line(name, 30)} = {cell_text(cell, _CELL_LIMIT)}"
            for name, cell in zip(result.columns[:_COLUMNS], row[:_COLUMNS], strict=False)
        )
        more = len(row) - _COLUMNS
        yield f"    {cells}" + (f", and {counted(more, 'more column')}" if more > 0 else "")


def _awaited(_view: RunView, _event: JudgementAwaited) -> Iterator[str]:
    yield f"waits for a person's judgement: {KIND_WORDS}"


def _judged(view: RunView, event: AttemptJudged) -> Iterator[str]:
    words = acceptance_of(view.figures)
    if event.status is Status.CORRECT:
        doubt = "" if event.confirmed else f"{_emptiness(view, event.position)} (unconfirmed)"
        yield f"  result: {words.result}{doubt}"
        return
    if event.skipped:
        yield f"  result: passed over by {one_line(event.judge, 60)}"
    elif event.repeats is not None:
        name = "the first SQL" if event.repeats == 0 else f"repair {event.repeats}"
        yield f"  result: wrong, the same SQL as {name}; not run again"
    elif event.refused:
        yield f"  result: not put before the judge: {one_line(event.refused, 300)}"
    else:
        failure = f", {event.failure.value}" if event.failure is not None else ""
        rule = f", rule {one_line(event.rule, 60)}" if event.rule else ""
        message = f": {one_line(event.message, 400)}" if event.message else ""
        status = event.status.value.replace("_", " ").lower()
        called = words.rejected if event.status is Status.DENOTATION_MISMATCH else "wrong"
        yield f"  result: {called} ({status}{failure}{rule}){message}"
    if event.limit_hit:
        yield "  a limit of the sandbox stopped it"
    if event.remark:
        yield f"  remark of {one_line(event.judge, 60)}: {one_line(event.remark, 400)}"
    if event.correction:
        yield f"  corrected by {one_line(event.judge, 60)}: {one_line(event.correction, _SQL_LIMIT)}"


def _emptiness(view: RunView, position: int) -> str:
    """What must be said of an answer that is taken because it runs: that there is nothing in it."""
    episode = view.episode(position)
    result = episode.attempts[-1].result if episode is not None and episode.attempts else None
    return ", with no rows" if result is not None and not result.row_count else ""


def _reflected(_view: RunView, event: ReflectionWritten) -> Iterator[str]:
    yield f"  reflection: {one_line(event.text, 400)}"


def _stumbled(_view: RunView, event: ModelStumbled) -> Iterator[str]:
    yield trouble_words(event.problem, event.mend, event.retry_in)


def trouble_words(problem: str, mend: str, retry_in: float | None) -> str:
    """A failure of the engine that may pass, and what comes of it."""
    then = "the run is paused" if retry_in is None else f"next try in {retry_in:.0f} s"
    return f"engine trouble: {one_line(f'{problem} {mend}', 500)} ({then})"


def _episode_ended(view: RunView, event: EpisodeEnded) -> Iterator[str]:
    acceptance = acceptance_of(view.figures)
    words = acceptance.ending(event.outcome).format(repairs=counted(event.attempts, "repair"))
    if event.outcome in TAKEN and not acceptance.confirmed:
        words += f"{_emptiness(view, event.position)}{acceptance.unconfirmed}"
    note = f": {one_line(event.note, 300).rstrip('.')}" if event.note else ""
    yield f"{words}{note}, after {duration(event.seconds)}"
    if event.memory is not None:
        kind = POLARITY_WORDS[event.memory.polarity].kind
        state = "" if event.memory.confirmed else ", unconfirmed, so it waits for review"
        yield f"learned {kind} ({event.memory.id}{state})"


def _run_ended(_view: RunView, event: RunEnded) -> Iterator[str]:
    yield ""
    yield f"The run is over: {one_line(event.reason, 80)}."


_LINES: dict[type, Callable[[RunView, Any], Iterator[str]]] = {
    RunStarted: _run_started,
    RunResumed: _run_resumed,
    ReviewsApplied: _reviews_applied,
    EpisodeStarted: _episode_started,
    MemoriesRetrieved: _memories,
    PromptSent: _prompt,
    AnswerWritten: _answer,
    CandidateDrawn: _drawn,
    CandidatesSelected: _selected,
    SqlExecuted: _rows,
    JudgementAwaited: _awaited,
    AttemptJudged: _judged,
    ReflectionWritten: _reflected,
    ModelStumbled: _stumbled,
    EpisodeEnded: _episode_ended,
    RunEnded: _run_ended,
}

_OF_EPISODE = frozenset(_LINES) - {RunStarted, RunResumed, ReviewsApplied, RunEnded}
