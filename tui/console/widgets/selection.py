"""A selection on a sheet: its groups, the ranks of every permutation as a heat map, how sure the
choice is, the tie-break, every candidate, and what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from core.run.events import CandidateDrawn, CandidatesSelected
from core.selection.grouped import Candidates, Executed
from core.selection.selection import RankedWindow, Run, Selection
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
    bar,
    line,
    row_count_words,
    rule,
    sql_lines,
    table_lines,
)
from tui.console.widgets.paper import Block
from tui.view.legible import one_line
from tui.view.selection_words import WEIGHED, cost_words, name_of, tie_words, why

_ROWS = 3
_SHADES = "█▓▒░"
"""From the best quarter of the ranks to the last."""
_HEATS = (f"{GOOD} bold", GOOD, QUIET, QUIET)
_SCORES = {WEIGHED: "probability of yes, %"}
_CELL = 4
"""Cells of a rank with its shade."""


def selection_blocks(candidates: Candidates, selection: Selection) -> list[Block]:
    """The whole sheet."""
    blocks = [Block("choice", selection, partial(_choice, candidates, selection))]
    if selection.mean_ranks:
        blocks.append(Block("heat", selection, partial(_heat, candidates, selection)))
        blocks.append(Block("sure", selection, partial(_sure, selection)))
    if selection.scores:
        blocks.append(Block("scores", selection, partial(_scores, selection)))
    for place, group in enumerate(candidates.groups):
        blocks.append(
            Block(("group", place), selection, partial(_group, candidates, selection, place, group))
        )
    mended = [window for run in selection.runs for window in run.windows if window.mended]
    if len(selection.runs) and (mended or len(selection.runs[0].windows) > 1):
        blocks.append(Block("windows", selection, partial(_windows, selection.runs)))
    return blocks


def drafted_blocks(drawn: Sequence[CandidateDrawn], selected: CandidatesSelected | None) -> list[Block]:
    """A run's candidates: as they come, then the choice."""
    if selected is None:
        return [Block("drawing", tuple(each.number for each in drawn), partial(_drawing, drawn))]
    agreed = Block("agreed", selected.agreed, partial(_agreed, selected.agreed))
    blocks = selection_blocks(selected.candidates, selected.selection)
    return [blocks[0], agreed, *blocks[1:]]


def _choice(candidates: Candidates, selection: Selection, width: int) -> list[Line]:
    method = one_line(selection.method, 60)
    if selection.choice is None:
        nothing = line((f"{method} chose nothing", f"{WARN} bold"))
        return [nothing, line(one_line(selection.remark, 300))]
    count = len(candidates.executed)
    chosen = candidates.executed[selection.choice]
    lines = [
        line((f"{method} chose {name_of(selection.choice)} of {count}", TITLE), *_verdict(chosen)),
        line(("because ", QUIET), one_line(why(candidates, selection), 600)),
    ]
    cost = cost_words(selection)
    lines.append(line((cost or "no call was needed", QUIET)))
    if selection.memories:
        lines.append(line((f"{len(selection.memories)} specification memories were shown", QUIET)))
    return [*lines, BLANK]


def _verdict(each: Executed) -> list[Part]:
    if each.correct is None:
        return []
    return [("  right by gold", GOOD) if each.correct else ("  wrong by gold", BAD)]


def _agreed(agreed: str, _width: int) -> list[Line]:
    if agreed:
        return [line(("The candidates agree on its result.", GOOD)), BLANK]
    return [line(("The candidates do not agree on a result.", WARN)), BLANK]


def _heat(candidates: Candidates, selection: Selection, width: int) -> list[Line]:
    """A row a candidate, in the prior's order of groups; a column a permutation."""
    count, runs = len(candidates.executed), selection.runs
    shown = runs[: max(1, (width - 22) // (_CELL + 1))]
    ranks = [{index: rank for rank, index in enumerate(run.final, 1)} for run in shown]
    heads = "".join(f" {f'r{number}':>{_CELL}}" for number in range(1, len(shown) + 1))
    more = f" + {len(runs) - len(shown)} more runs" if len(runs) > len(shown) else ""
    tail = f"best is {_SHADES[0]}, last {_SHADES[-1]}"
    lines = [
        rule(("ranks", TITLE), width=width, tail=(tail, QUIET)),
        line((f"{'':<13}{heads}   mean{more}", QUIET), wrap=False),
    ]
    best = sorted(range(count), key=lambda index: selection.mean_ranks[index])
    lines += [
        _heat_row(selection, ranks, index, place, count)
        for place, group in enumerate(candidates.groups)
        for index in sorted(group, key=best.index)
    ]
    return [*lines, BLANK]


def _heat_row(
    selection: Selection, ranks: Sequence[dict[int, int]], index: int, place: int, count: int
) -> Line:
    chosen = index == selection.choice
    mark = "▸" if chosen else ("≈" if index in selection.tied else " ")
    parts: list[Part] = [
        (f"{mark} ", f"{GOOD} bold"),
        (f"{index + 1:>3}", TITLE if chosen else ""),
        (f" group {place + 1:<2}"[:9].ljust(8), QUIET),
    ]
    for run in ranks:
        rank = run[index]
        heat = min(3, 4 * (rank - 1) // max(1, count))
        parts += [" ", (f"{rank:>{_CELL - 1}}{_SHADES[heat]}", _HEATS[heat])]
    parts.append((f"  {selection.mean_ranks[index]:5.2f}", TITLE if chosen else ""))
    return line(*parts, wrap=False)


def _sure(selection: Selection, width: int) -> list[Line]:
    if selection.confidence is None or not tie_words(selection):
        return []
    share = selection.confidence
    style = WARN if selection.tied else GOOD
    return [
        rule(("confidence", TITLE), width=width),
        line((bar(share, 20), style), f" {tie_words(selection)}", wrap=False),
        BLANK,
    ]


def _scores(selection: Selection, width: int) -> list[Line]:
    name = "tie-break scores" if selection.tied else _SCORES.get(selection.method, "scores")
    lines = [rule((name, TITLE), width=width)]
    for each in selection.scores:
        chosen = each.candidate == selection.choice
        said = "no score" if each.score is None else f"{each.score:.4g}"
        lines.append(
            line(
                ("▸ " if chosen else "  ", GOOD),
                f"{name_of(each.candidate):<13} ",
                (bar((each.score or 0) / 100, 20), ACCENT),
                f" {said}",
                wrap=False,
            )
        )
    return [*lines, BLANK]


def _group(
    candidates: Candidates, selection: Selection, place: int, group: Sequence[int], width: int
) -> list[Line]:
    """One result, then the texts that return it, the chosen one first."""
    first = candidates.executed[group[0]]
    home = selection.choice in group
    size = f"{len(group)} of {len(candidates.executed)}"
    title: Part = (f"group {place + 1}", f"{GOOD} bold" if home else TITLE)
    tail = "chosen" if home else ""
    lines = [rule(title, (f"  {size}", QUIET), width=width, tail=(tail, GOOD))]
    if first.ran:
        lines.append(line((row_count_words(first.table, _ROWS), QUIET), *_verdict(first)))
        if first.table.row_count:
            lines += table_lines(first.table, width, _ROWS)
    for index in sorted(group, key=lambda each: each != selection.choice):
        lines += _candidate(candidates.executed[index], index, chosen=index == selection.choice)
    return [*lines, BLANK]


def _candidate(each: Executed, index: int, *, chosen: bool) -> list[Line]:
    source = f"  {one_line(each.source, 60)}" if each.source else ""
    style = f"{GOOD} bold" if chosen else ""
    lines = [line(("▸ " if chosen else "  ", GOOD), (name_of(index), style), (source, QUIET))]
    lines += sql_lines(each.sql, indent=4) if each.sql.strip() else [line("(no SQL)", indent=4)]
    if not each.ran:
        why_not = each.table.error or each.table.outcome.value
        lines.append(line((one_line(why_not, 300), BAD), indent=4))
    return lines


def _windows(runs: Sequence[Run], width: int) -> list[Line]:
    """What each call was shown and how its answer ranked it, with what had to be mended."""
    lines = [rule(("windows", TITLE), width=width)]
    lines += [_window(number, window) for number, run in enumerate(runs, 1) for window in run.windows]
    return [*lines, BLANK]


def _window(number: int, window: RankedWindow) -> Line:
    order = " > ".join(str(index + 1) for index in window.ranking)
    last = window.start + len(window.shown)
    mended = "; ".join(window.mended)
    return line(
        (f"r{number} places {window.start + 1}-{last}: ", QUIET),
        order,
        (f"  mended: {one_line(mended, 200)}" if mended else "", WARN),
    )


def _drawing(drawn: Sequence[CandidateDrawn], width: int) -> list[Line]:
    lines = [rule(("candidates so far", TITLE), width=width)]
    for each in drawn:
        lines.append(
            line(name_of(each.number), (f"  seed {each.sampling.seed}, {each.seconds:.1f} s", QUIET))
        )
        lines += sql_lines(each.sql, indent=4)
    return lines
