"""What a run came to, in words: every figure with the number of questions behind it."""

from __future__ import annotations

from core.memory.entry import Polarity, ReviewState
from core.run.events import EpisodeOutcome
from core.run.figures import Figures
from core.wording import counted
from tui.view.acceptance import acceptance_of


def percent(part: int, whole: int) -> str:
    """A share with its n, as `62.5 % (25 of 40)`; a dash where there is nothing yet."""
    return f"{100 * part / whole:.1f} % ({part:,} of {whole:,})" if whole else "- (0 of 0)"


def duration(seconds: float) -> str:
    """Seconds as people read them: 3 ms, 0.42 s, 12 s, 3 min 05 s, 2 h 07 min."""
    if 0 < seconds < 0.1:
        return f"{seconds * 1_000:.0f} ms" if seconds >= 0.0005 else "under 1 ms"
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def model_words(figures: Figures) -> str:
    """Model and engine, labelled where the answers are not a live model's."""
    if figures.model is None:
        return "no model yet"
    recorded = ", recorded answers" if figures.model.engine == "replay" else ""
    return f"{figures.model.name} ({figures.model.engine}{recorded})"


def summary(figures: Figures) -> list[tuple[str, str]]:
    """(label, value) lines: what was right at first, repaired with and without memory, still wrong;
    in the words of the run's judge (`acceptance.py`)."""
    words = acceptance_of(figures)
    n, at_first = figures.judged, figures.initially_right
    with_memory = f"{figures.repaired_with_memory:,} (memories stood in the prompt that worked)"
    lines = [
        ("questions", _questions(figures)),
        (words.at_first, percent(at_first, n) + words.unconfirmed),
        (words.now, percent(at_first + figures.repaired, n) + words.unconfirmed + _empty(figures)),
        (words.by_repair, f"{percent(figures.repaired, n - at_first)} of the first failures"),
        ("  with memory", with_memory),
        ("  without", f"{figures.repaired_without_memory:,}"),
        (words.in_the_end, percent(figures.wrong, n)),
        ("repairs tried", _repairs(figures)),
        ("model calls", _calls(figures)),
        ("learned", _learned(figures)),
    ]
    if figures.corrected:
        lines.insert(6, ("corrected", f"{percent(figures.corrected, n)} by a person"))
    if not words.confirmed:
        lines.insert(1, ("judged by", words.judged_by))
    return lines


def _empty(figures: Figures) -> str:
    """Answers without rows, where nobody has said that they are right."""
    if acceptance_of(figures).confirmed or not figures.taken_empty:
        return ""
    return f", {figures.taken_empty:,} with no rows"


def _questions(figures: Figures) -> str:
    words = f"{figures.finished:,} of {figures.questions:,} finished"
    for outcome, label in ((EpisodeOutcome.SKIPPED, "skipped"), (EpisodeOutcome.BROKEN, "broken")):
        if count := figures.outcomes[outcome]:
            words += f", {count:,} {label} (in no rate)"
    return words


def _repairs(figures: Figures) -> str:
    if not figures.attempts:
        return "0"
    repeated = percent(figures.repeats, figures.attempts)
    return f"{figures.attempts:,}; wrote an earlier SQL again: {repeated}"


def _calls(figures: Figures) -> str:
    words = f"{figures.cost.calls:,}"
    if figures.shared_answers:
        words += f" (and {counted(figures.shared_answers, 'answer')} taken over)"
    words += f", {figures.cost.sent:,} tokens in"
    if figures.cost.cached:
        words += f" ({figures.cost.cached:,} of them from the cache)"
    words += f", {figures.cost.written:,} out, {duration(figures.cost.seconds)} in the model"
    if figures.cost.uncounted:
        words += f"; {counted(figures.cost.uncounted, 'call')} without token counts"
    return words


def _learned(figures: Figures) -> str:
    examples = figures.memories(Polarity.EXAMPLE)
    words = (
        f"{figures.memories(Polarity.POSITIVE):,} positive, "
        f"{counted(figures.memories(Polarity.NEGATIVE), 'negative memory', 'negative memories')}"
    ) + (f", {counted(examples, 'example')}" if examples else "")
    pending = sum(state is ReviewState.PENDING for _, state in figures.learned.values())
    return words + (
        f", {pending:,} of them {'waits' if pending == 1 else 'wait'} for review" if pending else ""
    )
