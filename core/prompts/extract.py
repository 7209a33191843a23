"""Finding the one SQL statement in whatever a model answered.

Real models do not obey (merit.md, "Prompts"): this module recovers the query from answers without
tags, in Markdown, with prose, with thinking, with several statements or cut off, and says what it
had to do. It never returns more than one statement.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator

import msgspec

from core.prompts.statement import Statement, statements


class Extraction(msgspec.Struct, frozen=True):
    """One statement without its semicolon, empty where there was none, and what was done."""

    sql: str
    notes: tuple[str, ...] = ()


_THOUGHT = r"think|thinking|thought|reasoning"
_ATTRIBUTES = r"(?:\s+[\w-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s<>\"']+))*\s*/?\s*>"
"""And the end of the tag: `low < code AND high > 5` is none."""
_THOUGHT_MARK = re.compile(rf"<\s*(/?)\s*(?:{_THOUGHT}){_ATTRIBUTES}", re.I)
_ANSWER = re.compile(rf"<\s*(/?)\s*answer{_ATTRIBUTES}", re.I)
_TAG = re.compile(rf"</?\s*(?:answer|sql|query|code|pre|reflection|{_THOUGHT}){_ATTRIBUTES}", re.I)
_FENCE = re.compile(r"`{3,}|~{3,}")
_LITERAL = re.compile(r"'(?:[^']|'')*'")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#39|#x27|#34);", re.I)
_ESCAPED_TAG = re.compile(r"&lt;\s*/?\s*answer\b[^&]*&gt;", re.I)
_REFLECTION = re.compile(rf"<\s*reflection{_ATTRIBUTES}(.*?)(?:<\s*/\s*reflection\s*>|\Z)", re.I | re.S)
_JSON_LABEL = re.compile(r"\A\s*json\b", re.I)
_QUOTED = re.compile(r"\A\s*([\"'])(\s*(?:select|with)\b.*)\1\s*\Z", re.I | re.S)

_DECODED = "HTML entities decoded"


class _Segment(msgspec.Struct, frozen=True):
    """A part of the answer that may hold the query."""

    text: str
    closed: bool
    """Its end was marked, so the token limit did not cut it."""
    notes: tuple[str, ...]


def extract_sql(text: str, finish: str = "stop") -> Extraction:
    """The query in `text`, whose generation ended by `finish` ("stop", or "length" for the token
    limit).

    The last answer tag that holds SQL wins; then the last fence; then the text itself. Where one
    of these holds several statements, the first complete one that reads is kept. Never raises.
    """
    notes: list[str] = []
    if _ESCAPED_TAG.search(text):
        notes.append(_DECODED)
        text = html.unescape(text)
    text = _without_thoughts(text, finish, notes)
    if not text.strip():
        return Extraction("", (*notes, "empty answer"))
    choice = _choose(text)
    if choice is None:
        return Extraction("", (*notes, "no SQL found"))
    segment, statement, several = choice
    notes += segment.notes
    if several:
        notes.append("several statements: the first complete SELECT was kept")
    if statement.prose:
        notes.append("prose left out")
    if finish == "length" and not segment.closed and not statement.ended:
        notes.append("cut off at the token limit")
    return Extraction(_scrubbed(statement.sql), tuple(notes))


def extract_reflection(text: str, finish: str = "stop") -> str:
    """The reflection in `text`: what stands between the tags, else everything but tags, thinking
    and fenced code. Empty where there is none. Never raises."""
    text = _without_thoughts(text, finish, [])
    tagged = [found.strip() for found in _REFLECTION.findall(text) if found.strip()]
    words = tagged[-1] if tagged else re.sub(r"```.*?(?:```|\Z)", "", text, flags=re.S)
    return _scrubbed(words)


def _without_thoughts(text: str, finish: str, notes: list[str]) -> str:
    """What the model said aloud. A block's end without a begin ends a block that the engine's
    chat template began."""
    aloud: list[str] = []
    position, opened = 0, False
    for mark in _THOUGHT_MARK.finditer(text):
        if mark[1]:
            aloud = aloud if opened else []
            position, opened = mark.end(), False
        elif not opened:
            aloud.append(text[position : mark.start()])
            position, opened = mark.end(), True
    rest, before = text[position:], "\n".join(aloud)
    if not opened:
        if position:
            notes.append("thinking left out")
        return f"{before}\n{rest}" if aloud else rest
    if _ANSWER.search(rest) or (finish != "length" and not before.strip()):
        notes.append("thinking left open")
        return f"{before}\n{rest}"
    # What stands in a block that was cut off is a draft and no answer.
    notes.append("thinking cut off" if finish == "length" else "thinking left out")
    return before


def _choose(text: str) -> tuple[_Segment, Statement, bool] | None:
    """The best segment's best statement: complete reads first, then any statement at all."""
    fallback: tuple[_Segment, Statement, bool] | None = None
    for segment in map(_operators_decoded, _segments(text)):
        found = statements(_TAG.sub("\n\n", _FENCE.sub("\n\n", segment.text)))
        several = len(found) > 1
        for statement in found:
            if statement.reads and statement.complete:
                return segment, statement, several
        if fallback is None and found:
            fallback = segment, next((each for each in found if each.reads), found[0]), several
    return fallback


def _segments(text: str) -> Iterator[_Segment]:
    """Parts that may hold the query, the most trustworthy first."""
    answers = _answers(text)
    several = ("several answers: the last one with SQL was kept",) if len(answers) > 1 else ()
    for content, closed in reversed(answers):
        left_open = () if closed else ("answer tag left open",)
        yield from _fenced(content, closed, several + left_open)
        yield from _in_json(content, several + left_open)
        yield _unquoted(_Segment(content, closed, several + left_open))
    missing = ("no answer tags",) if not answers else ("SQL outside the answer tags",)
    outside = _ANSWER.sub("\n\n", text)
    yield from _fenced(outside, False, missing)
    yield from _in_json(outside, missing)
    yield _Segment(outside, False, missing)


def _answers(text: str) -> list[tuple[str, bool]]:
    """Contents of the answer tags in order, each with whether its end was marked."""
    tags = list(_ANSWER.finditer(text))
    found: list[tuple[str, bool]] = []
    for number, tag in enumerate(tags):
        following = tags[number + 1] if number + 1 < len(tags) else None
        if not tag[1]:
            end = following.start() if following else len(text)
            found.append((text[tag.end() : end], following is not None))
        elif number == 0:
            found.append((text[: tag.start()], True))
    return [(content, closed) for content, closed in found if content.strip()]


def _fenced(text: str, closed: bool, notes: tuple[str, ...]) -> Iterator[_Segment]:
    """What stands between Markdown fences, the last block first."""
    marks = list(_FENCE.finditer(text))
    for number in range((len(marks) - 1) // 2 * 2, -1, -2):
        if number < len(marks):
            ended = number + 1 < len(marks)
            end = marks[number + 1].start() if ended else len(text)
            content = text[marks[number].end() : end]
            removed = (*notes, "Markdown fence removed")
            yield from _in_json(content, removed)
            yield _unquoted(_Segment(content, closed or ended, removed))


def _in_json(text: str, notes: tuple[str, ...]) -> Iterator[_Segment]:
    """Texts of an answer that is one JSON object."""
    stripped = _JSON_LABEL.sub("", text).strip()
    if not stripped.startswith("{"):
        return
    try:
        answer = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return
    if isinstance(answer, dict):
        for value in answer.values():
            if isinstance(value, str):
                yield _Segment(value, True, (*notes, "taken out of JSON"))


def _unquoted(segment: _Segment) -> _Segment:
    """A query in quotes as a whole is a text to SQL."""
    whole = _QUOTED.match(segment.text)
    if whole is None:
        return segment
    return _Segment(whole[2], segment.closed, (*segment.notes, "quotes around it removed"))


def _operators_decoded(segment: _Segment) -> _Segment:
    """`a &lt; 5` is an escaped operator, while 'AT&amp;T' may be what the table holds."""
    if not _ENTITY.search(_LITERAL.sub("", segment.text)):
        return segment
    return _Segment(html.unescape(segment.text), segment.closed, (*segment.notes, _DECODED))


def _scrubbed(text: str) -> str:
    """Nothing that looks like a tag or a fence, also where removing one would make another."""
    while True:
        shorter = _TAG.sub("", _FENCE.sub("", text)).strip()
        if shorter == text:
            return text
        text = shorter
