"""Places in a run as people name them: 40%, question 12, event 300, 2:30, a bookmark's name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from core.errors import MeritoError
from tui.bookmarks import Bookmark
from tui.view.legible import one_line
from tui.view.playback import Playback

HINT = "40%, q12 (question 12), 300 (event 300), 2:30 (minutes), or a bookmark's name"

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_QUESTION = re.compile(r"q(?:uestion)?\s*(\d+)", re.IGNORECASE)
_EVENT = re.compile(r"(?:event|#)?\s*(\d[\d,]*)", re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d\d)")


def place_of(words: str, playback: Playback, bookmarks: Sequence[Bookmark]) -> int:
    """The place that is meant; one beyond the end is the end. Raises MeritoError where there is no
    such place."""
    text = words.strip()
    if found := _PERCENT.fullmatch(text):
        return round(min(float(found[1]), 100.0) / 100 * len(playback))
    if found := _QUESTION.fullmatch(text):
        return _of_question(int(found[1]), playback)
    if found := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return bisect_right(playback.chart.moments, hours * 3600 + minutes * 60 + seconds)
    if found := _EVENT.fullmatch(text):
        return min(int(found[1].replace(",", "")), len(playback))
    return _of_bookmark(text, bookmarks)


def _of_question(number: int, playback: Playback) -> int:
    place = playback.chart.began(number - 1)
    if place is None:
        raise MeritoError(f"Question {number} has not begun in what is read of this run.")
    return place


def _of_bookmark(text: str, bookmarks: Sequence[Bookmark]) -> int:
    wanted = text.casefold()
    found = [each for each in bookmarks if wanted and wanted in each.name.casefold()]
    if not found:
        raise MeritoError(f"'{one_line(text, 60)}' is no place in this run.", f"Say {HINT}.")
    exact = [each for each in found if each.name.casefold() == wanted]
    return (exact or found)[0].place
