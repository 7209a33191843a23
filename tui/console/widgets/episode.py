"""The episode in the middle: the question, and each attempt as a card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from core.feedback.verdict import Status
from core.models.chat import Usage
from core.run.figures import TAKEN
from tui.console.ink import (
    ACCENT,
    BAD,
    BLANK,
    GOOD,
    QUIET,
    TITLE,
    WARN,
    Line,
    Part,
    change_parts,
    ink,
    line,
    row_count_words,
    rule,
    sql_lines,
    table_lines,
)
from tui.console.widgets.paper import Block, Paper
from tui.console.widgets.queue import STATE_STYLES
from tui.view.acceptance import acceptance_by
from tui.view.episode_view import MENDED, AttemptView, EpisodeView
from tui.view.legible import legible, one_line
from tui.view.polarity import POLARITY_WORDS
from tui.view.states import OUTCOMES, SIGNS, State
from tui.view.summary import duration

ROWS = 5
CardPart = Callable[[EpisodeView, AttemptView, int], list[Line]]
_STREAM_LINES = 14
_CHANGES = 8


class Episode(Paper):
    """Attempt cards of the chosen question, one of them selected."""

    def __init__(self, id: str = "episode") -> None:  # noqa: A002
        super().__init__(id=id, classes="pane")

    def show_episode(self, episode: EpisodeView | None, budget: int, selected: int, empty: str) -> None:
        """Draw what changed; `empty` stands where there is no episode yet."""
        if episode is None:
            self.show([Block("empty", empty, lambda _width: _empty_lines(empty))])
            return
        blocks = [
            Block(("question", episode.position), _question_version(episode), partial(_head, episode))
        ]
        if not episode.attempts and episode.outcome is None:
            blocks.append(Block("nothing", 0, lambda _width: _empty_lines("Nothing is written yet.")))
        for attempt in episode.attempts:
            chosen = attempt.number == selected
            before = episode.attempts[attempt.number - 1].version if attempt.number else 0
            version = (episode.began, attempt.version, before, chosen, budget)
            key = (episode.position, attempt.number)
            heading = partial(_heading, attempt, budget, chosen)
            if attempt.state is State.YOURS:
                rest = partial(_card, episode, attempt, None, _BESIDE)
                blocks += [
                    Block(key, version, partial(_card, episode, attempt, heading, _ANSWER)),
                    Block((*key, "beside"), version, rest),
                ]
            else:
                blocks.append(Block(key, version, partial(_card, episode, attempt, heading, _PARTS)))
        if episode.outcome is not None:
            blocks.append(Block(("end", episode.position), episode.version, partial(_ending, episode)))
        self.show(blocks)


def _empty_lines(words: str) -> list[Line]:
    return [line((each, QUIET), indent=1) for each in words.split("\n")]


def _question_version(episode: EpisodeView) -> object:
    return (episode.question.id, episode.question.text, episode.began)


def _head(episode: EpisodeView, width: int) -> Sequence[Line]:
    question = episode.question
    lines = [
        line(
            (f"Question {episode.position + 1}", TITLE),
            (f"  {one_line(question.database, 80)}", ACCENT),
            (f"  {one_line(question.difficulty, 20)}" if question.difficulty else "", QUIET),
            wrap=False,
        ),
        *(line(each) for each in legible(question.text, 2_000).split("\n")[:6]),
    ]
    if question.evidence:
        lines.append(line(("evidence: ", QUIET), one_line(question.evidence, 1_000)))
    return [*lines, BLANK]


def attempt_name(number: int, budget: int) -> str:
    """What an attempt is called."""
    return "first SQL" if number == 0 else f"repair {number}/{budget}" if budget else f"repair {number}"


def verdict_words(attempt: AttemptView) -> tuple[str, str]:
    """What came of an attempt in a few words, with their style."""
    state = attempt.state
    if attempt.skipped:
        return f"{SIGNS[State.SKIPPED]} skipped", QUIET
    if attempt.status is None:
        return f"{SIGNS[state]} {state.value}", STATE_STYLES[state]
    if attempt.status is Status.CORRECT:
        doubt = "" if attempt.confirmed else ", unconfirmed"
        return f"{SIGNS[State.RIGHT]} {acceptance_by(attempt.judge).state(State.RIGHT)}{doubt}", GOOD
    if attempt.repeats is not None:
        return f"{SIGNS[State.WRONG]} repeats {attempt_name(attempt.repeats, 0)}", WARN
    if attempt.refused:
        return "! refused", WARN
    failure = f" · {attempt.failure.value}" if attempt.failure is not None else ""
    if attempt.status is Status.DENOTATION_MISMATCH:
        words = acceptance_by(attempt.judge).other_rows
    else:
        words = attempt.status.value.replace("_", " ").lower()
    return f"{SIGNS[State.WRONG]} {words}{failure}", BAD


def _heading(attempt: AttemptView, budget: int, selected: bool, width: int) -> Line:
    mark, style = ("▶ ", f"{ACCENT} bold") if selected else ("  ", TITLE)
    name = attempt_name(attempt.number, budget)
    return rule((mark, ACCENT), (name, style), tail=verdict_words(attempt), width=width)


def _card(
    episode: EpisodeView,
    attempt: AttemptView,
    heading: Callable[[int], Line] | None,
    parts: Sequence[CardPart],
    width: int,
) -> Sequence[Line]:
    """An attempt, or the `parts` of it; what ends it is set off from the next one."""
    lines = [heading(width)] if heading is not None else []
    for part in parts:
        lines += part(episode, attempt, width)
    return [*lines, BLANK] if parts[-1] is _PARTS[-1] else lines


def _hints(_episode: EpisodeView, attempt: AttemptView, _width: int) -> list[Line]:
    return [
        line(
            ("hint ", ACCENT),
            one_line(hint.text, 400),
            (f"  ({one_line(hint.kind, 30)})", QUIET),
            indent=2,
        )
        for hint in attempt.hints[:8]
    ]


def _mended(_episode: EpisodeView, attempt: AttemptView, _width: int) -> list[Line]:
    if not attempt.mended:
        return []
    return [line((f"{MENDED}: ", ACCENT), one_line(attempt.mended, 400), indent=2)]


def _sql(episode: EpisodeView, attempt: AttemptView, _width: int) -> list[Line]:
    if attempt.state is State.WRITING and not attempt.streaming:
        return [line(("the model reads the prompt ...", QUIET), indent=2)]
    if attempt.state is State.WRITING:
        tail = legible(attempt.streaming, 64_000).split("\n")[-_STREAM_LINES:]
        shown = [line(each, indent=2) for each in tail[:-1]]
        return [*shown, line(tail[-1], ("▌", f"{ACCENT} bold"), indent=2)]
    if not attempt.sql:
        return [line(("(no SQL in the answer)", WARN), indent=2)] if attempt.answer else []
    return sql_lines(attempt.sql, episode.changes(attempt.number))


def _gone(episode: EpisodeView, attempt: AttemptView, _width: int) -> list[Line]:
    """What is no longer in the SQL; what is new is marked in it."""
    if attempt.state is State.WRITING or not attempt.sql:
        return []
    gone = [change for change in episode.changes(attempt.number) if change.kind != "added"]
    lines = [line(change_parts(change), indent=4) for change in gone[:_CHANGES]]
    if len(gone) > _CHANGES:
        lines.append(line((f"and {len(gone) - _CHANGES} more changes", QUIET), indent=4))
    return lines


def _feedback(_episode: EpisodeView, attempt: AttemptView, _width: int) -> list[Line]:
    lines: list[Line] = []
    if attempt.message:
        lines.append(line(("says ", QUIET), (one_line(attempt.message, 1_000), BAD), indent=2))
    if attempt.rule and attempt.status is not Status.CORRECT:
        lines.append(line(("rule ", QUIET), one_line(attempt.rule, 200), indent=2))
    if attempt.limit_hit:
        lines.append(line(("a limit of the sandbox stopped it", WARN), indent=2))
    if attempt.refused:
        lines.append(line(("not judged: ", WARN), one_line(attempt.refused, 400), indent=2))
    if attempt.remark:
        who = one_line(attempt.judge, 60)
        lines.append(line((f"{who} remarks ", ACCENT), one_line(attempt.remark, 1_000), indent=2))
    if attempt.correction:
        lines.append(line((f"corrected by {one_line(attempt.judge, 60)}", ACCENT), indent=2))
    if attempt.trouble:
        lines.append(
            line(("! engine trouble: ", f"{BAD} bold"), one_line(attempt.trouble, 1_000), indent=2)
        )
    if attempt.reflection:
        lines.append(line(("reflection ", QUIET), one_line(attempt.reflection, 1_000), indent=2))
    return lines


def _rows(_episode: EpisodeView, attempt: AttemptView, width: int) -> list[Line]:
    result = attempt.result
    if result is None or not result.columns:
        return []
    shown = min(ROWS, len(result.rows))
    took = f" in {duration(result.seconds)}"
    words = line((row_count_words(result, shown) + took, QUIET), indent=2)
    return [words, *table_lines(result, width, ROWS)]


def _cost(_episode: EpisodeView, attempt: AttemptView, _width: int) -> list[Line]:
    if attempt.usage is None:
        return []
    parts: list[Part] = [
        (usage_words(attempt.usage), QUIET),
        (f" · {duration(attempt.model_seconds)}", QUIET),
    ]
    if attempt.shared:
        parts = [("taken over from an earlier run, no model call", QUIET)]
    if attempt.extraction:
        parts.append((f" · {one_line(', '.join(attempt.extraction), 200)}", QUIET))
    if attempt.cut:
        parts.append((" · the answer was cut at the token limit", WARN))
    return [line(*parts, indent=2)]


def usage_words(usage: Usage) -> str:
    """Tokens of one call; an unknown count is a question mark."""
    counts = [
        "?" if count is None else f"{count:,}" for count in (usage.prompt_tokens, usage.output_tokens)
    ]
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{counts[0]} tokens in{cached}, {counts[1]} out"


def _ending(episode: EpisodeView, width: int) -> Sequence[Line]:
    assert episode.outcome is not None
    state = OUTCOMES[episode.outcome]
    said = acceptance_by(episode.attempts[-1].judge if episode.attempts else "")
    doubt = said.unconfirmed if episode.outcome in TAKEN else ""
    came = episode.outcome.value if said.confirmed else f"{said.state(state)}{doubt}"
    words = ink((f"{SIGNS[state]} {came}", f"{STATE_STYLES[state]} bold"))
    lines = [rule(words, width=width, tail=(duration(episode.seconds), QUIET))]
    if episode.note:
        lines.append(line(one_line(episode.note, 600), indent=2))
    if episode.learned is not None:
        told = POLARITY_WORDS[episode.learned.polarity]
        lines.append(
            line(
                ("learned ", QUIET),
                (f"{told.sign} ", ACCENT),
                f"{told.kind} ",
                (episode.learned.id, QUIET),
                indent=2,
            )
        )
        lines += [line(one_line(change, 300), indent=4) for change in episode.learned.delta[:_CHANGES]]
    return lines


_PARTS: tuple[CardPart, ...] = (_hints, _mended, _sql, _gone, _feedback, _rows, _cost)
"""What a card shows, from top to bottom."""
_ANSWER: tuple[CardPart, ...] = (_sql, _rows)
"""What a person judges, above everything else while it waits."""
_BESIDE = tuple(part for part in _PARTS if part not in _ANSWER)
