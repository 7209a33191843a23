"""Every action of the console with its keys: the one table behind bindings, the key bar, help and
the command palette. A new action is a new row here and one method `action_<does>` on its screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding, BindingType
from textual.keys import key_to_character

from tui.console.rooms import ROOMS


@dataclass(frozen=True)
class Action:
    """Something a person can do."""

    name: str
    """Unique, stable: key settings refer to it."""
    keys: str
    """Comma-separated, as Textual names keys."""
    label: str
    """A word or two for the key bar."""
    does: str
    """The action string."""
    rooms: tuple[str, ...]
    """Where it is offered; everywhere if empty."""
    bar: int
    """Place in the key bar, 1 first; 0 keeps it out."""
    about: str
    """One sentence for help and palette."""


_WATCH = ("run", "replay")

# fmt: off
ACTIONS: tuple[Action, ...] = (
    Action("run.pause", "space", "pause/go", "pause", ("run",), 1,
           "Hold the run at its next attempt, or let it go on."),
    Action("run.step", "s", "step", "step", ("run",), 2,
           "Let one attempt happen, then hold again."),
    Action("run.right", "r", "right", "judge_right", ("run",), 0,
           "Judge the waiting answer: right."),
    Action("run.wrong", "w", "wrong", "judge_wrong", ("run",), 0,
           "Judge the waiting answer: wrong, with a remark if you like."),
    Action("run.edit", "e", "correct it", "judge_edit", ("run",), 0,
           "Write the right SQL for the waiting answer, and try it before it counts."),
    Action("run.next", "n", "next to judge", "next_waiting", ("run",), 6,
           "Go to the next question that waits for your word."),
    Action("run.skip", "x", "skip", "skip", ("run",), 7,
           "End this question's episode; it teaches nothing. Asks first."),
    Action("run.stop", "X", "stop", "stop", ("run",), 8,
           "End the run; it can be resumed later. Asks first."),
    Action("run.ask", "a", "ask", "app.room('ask')", ("run",), 9,
           "Ask a question of your own, also while a run goes on."),
    Action("ask.write", "a,i", "ask", "write", ("ask",), 1,
           "Type a question about the chosen database."),
    Action("ask.right", "r", "right", "judge_right", ("ask",), 0,
           "Judge the waiting answer: right."),
    Action("ask.wrong", "w", "wrong", "judge_wrong", ("ask",), 0,
           "Judge the waiting answer: wrong, with a remark if you like."),
    Action("ask.edit", "e", "correct it", "judge_edit", ("ask",), 0,
           "Write the right SQL for the waiting answer, and try it before it counts."),
    Action("ask.skip", "x", "skip", "skip", ("ask",), 0,
           "Let the question go; it teaches nothing. Asks first."),
    Action("ask.open", "o", "open file", "open_file", ("ask",), 6,
           "Open a SQLite file, or a folder of databases."),
    Action("ask.before", "left_square_bracket", "attempt before", "attempt(-1)", ("ask",), 0,
           "Select the attempt before."),
    Action("ask.after", "right_square_bracket", "attempt after", "attempt(1)", ("ask",), 0,
           "Select the attempt after."),
    Action("ask.detail", "d", "detail", "detail", ("ask",), 7,
           "Open everything about the selected attempt: rows, prompt, answer."),
    Action("replay.play", "space", "play/hold", "play", ("replay",), 1,
           "Play the run on, or hold it."),
    Action("replay.forward", "full_stop,right", "forward", "step_event(1)", ("replay",), 2,
           "One event forward."),
    Action("replay.back", "comma,left", "back", "step_event(-1)", ("replay",), 3,
           "One event back."),
    Action("replay.attempt", "right_curly_bracket", "attempt on", "step_mark('attempt', 1)",
           ("replay",), 0,
           "Forward to where the next attempt has been judged."),
    Action("replay.attempt_back", "left_curly_bracket", "attempt back", "step_mark('attempt', -1)",
           ("replay",), 0, "Back to where the attempt before had been judged."),
    Action("replay.next", "n", "next question", "step_mark('question', 1)", ("replay",), 4,
           "Forward to the next question."),
    Action("replay.previous", "p", "question before", "step_mark('question', -1)", ("replay",), 0,
           "Back to where this question began, or the one before."),
    Action("replay.failure", "e", "next failure", "step_mark('failure', 1)", ("replay",), 7,
           "Forward to the next failure."),
    Action("replay.failure_back", "E", "failure before", "step_mark('failure', -1)", ("replay",), 0,
           "Back to the failure before."),
    Action("replay.repair", "r", "next repair", "step_mark('repair', 1)", ("replay",), 8,
           "Forward to the next question that was repaired."),
    Action("replay.repair_back", "R", "repair before", "step_mark('repair', -1)", ("replay",), 0,
           "Back to the repaired question before."),
    Action("replay.judgement", "v", "next verdict", "step_mark('judgement', 1)", ("replay",), 0,
           "Forward to the next answer that a person judged."),
    Action("replay.judgement_back", "V", "verdict before", "step_mark('judgement', -1)", ("replay",), 0,
           "Back to the answer before that a person judged."),
    Action("replay.begin", "0", "beginning", "edge(0)", ("replay",), 0,
           "To the beginning of the run."),
    Action("replay.end", "dollar_sign", "end", "edge(1)", ("replay",), 0,
           "To the end of the run."),
    Action("replay.go", "percent_sign", "go to", "go", ("replay",), 6,
           "To a place by its name: 40%, q12, an event's number, 2:30, or a bookmark's name."),
    Action("replay.bookmark", "b", "bookmark", "bookmark", ("replay",), 9,
           "Set a bookmark here, with a name."),
    Action("replay.bookmarks", "B", "bookmarks", "bookmarks", ("replay",), 0,
           "The bookmarks of this run: go to one, rename it, remove it."),
    Action("replay.bookmark_on", "apostrophe", "next bookmark", "step_bookmark(1)", ("replay",), 0,
           "Forward to the next bookmark."),
    Action("replay.bookmark_back", "quotation_mark", "bookmark before", "step_bookmark(-1)",
           ("replay",), 0, "Back to the bookmark before."),
    Action("replay.faster", "plus,equals_sign", "faster", "faster(1)", ("replay",), 5,
           "Play faster, up to 100x."),
    Action("replay.slower", "minus", "slower", "faster(-1)", ("replay",), 0,
           "Play slower, down to 1x."),
    Action("replay.open", "o", "other run", "open_run", ("replay",), 10,
           "Choose a stored run to replay."),
    Action("watch.follow", "f", "follow", "follow", _WATCH, 8,
           "Follow the live question, or stay on this one."),
    Action("watch.before", "left_square_bracket", "attempt before", "attempt(-1)", _WATCH, 0,
           "Select the attempt before."),
    Action("watch.after", "right_square_bracket", "attempt after", "attempt(1)", _WATCH, 0,
           "Select the attempt after."),
    Action("watch.detail", "enter", "detail", "detail", _WATCH, 9,
           "Open everything about the selected attempt: rows, prompt, answer."),
    Action("watch.share", "H", "share", "share_run", _WATCH, 0,
           "Show this run to others: a page or a recording, as it is or redacted."),
    Action("watch.copy_rows", "C", "copy rows", "copy_rows", _WATCH, 0,
           "Copy the result's rows, tab-separated."),
    Action("memory.approve", "a", "approve", "decide('approved')", ("memory",), 1,
           "Let the marked memories, or this one, be retrieved."),
    Action("memory.reject", "r", "reject", "decide('rejected')", ("memory",), 2,
           "Never retrieve the marked memories, or this one."),
    Action("memory.restore", "o", "restore", "restore", ("memory",), 3,
           "Put it back to the state it started in."),
    Action("memory.approve_with", "A", "approve with a remark", "remark('approved')", ("memory",), 0,
           "Approve, with a remark that is kept with the decision."),
    Action("memory.reject_with", "R", "reject with a remark", "remark('rejected')", ("memory",), 0,
           "Reject, with a remark that is kept with the decision."),
    Action("memory.remark", "m", "remark", "remark('')", ("memory",), 4,
           "Add a remark to the history and leave the state as it is."),
    Action("memory.undo", "u", "undo", "undo", ("memory",), 5,
           "Take back your last decision; both stay in the history."),
    Action("memory.mark", "space", "mark", "mark", ("memory",), 6,
           "Mark this memory, to decide about many at once."),
    Action("memory.unmark", "escape", "unmark", "clear", ("memory",), 0,
           "Remove all marks, or the search."),
    Action("memory.state", "s", "state", "cycle('state')", ("memory",), 8,
           "Show only those to review, or of one state."),
    Action("memory.polarity", "p", "polarity", "cycle('polarity')", ("memory",), 0,
           "Show only positive or negative ones."),
    Action("memory.failure", "t", "type", "cycle('failure')", ("memory",), 0,
           "Show only one failure type."),
    Action("memory.database", "d", "database", "cycle('database')", ("memory",), 0,
           "Show only one database."),
    Action("memory.run", "l", "run", "cycle('run')", ("memory",), 0,
           "Show only what one run taught."),
    Action("memory.waiting", "w", "next to review", "waiting", ("memory",), 7,
           "Go to the next memory that waits for a decision."),
    Action("memory.mark_shown", "asterisk", "mark all shown", "mark_shown", ("memory",), 0,
           "Mark or unmark everything that search and filters leave."),
    Action("memory.mark_group", "N", "mark near-duplicates", "mark_group", ("memory",), 0,
           "Mark or unmark the near-duplicates of this memory that are on show."),
    Action("memory.gather", "n", "near-duplicates", "gather", ("memory",), 9,
           "Put near-duplicates together, the largest groups first; again: as they came."),
    Action("memory.meaning", "tilde", "by meaning", "meaning", ("memory",), 0,
           "Search by meaning: the memories nearest to what you type."),
    Action("memory.places", "v", "where used", "places", ("memory",), 0,
           "The episodes that taught and used this memory; enter replays one."),
    Action("memory.export", "x", "export", "export", ("memory",), 0,
           "Export the marked memories, or all on show, with their reviews."),
    Action("memory.import", "i", "import", "import", ("memory",), 0,
           "Import memories from a file or a folder."),
    Action("memory.reload", "f5", "reload", "reload", ("memory",), 0,
           "Read the library again."),
    Action("experiments.mark", "space", "mark", "mark", ("experiments",), 1,
           "Mark this run: the marked ones alone are drawn and compared."),
    Action("experiments.compare", "v", "compare", "compare", ("experiments",), 2,
           "Compare two runs question by question: the two marked ones."),
    Action("experiments.replay", "o", "replay", "replay", ("experiments",), 3,
           "Open the run in Replay."),
    Action("experiments.unmark", "escape", "unmark", "clear", ("experiments",), 0,
           "Remove all marks, or the search."),
    Action("experiments.tables", "C", "copy tables", "copy_tables", ("experiments",), 4,
           "Copy the tables, tab-separated."),
    Action("selection.method", "m", "method", "next_method", ("selection",), 1,
           "The same question as the next method chose."),
    Action("selection.pool", "p", "pool", "next_pool", ("selection",), 2,
           "Step to the next pool that something was chosen from."),
    Action("selection.reload", "f5", "reload", "reload", ("selection",), 0,
           "Read again what was chosen."),
    Action("experiments.reload", "f5", "reload", "reload", ("experiments",), 0,
           "Read the runs again."),
    Action("compare.back", "escape", "back", "back", ("compare",), 1,
           "Back to the experiments."),
    Action("compare.filter", "d", "which", "filter(1)", ("compare",), 2,
           "Show the questions where the runs differ, where one alone is right, or all."),
    Action("compare.swap", "s", "swap", "swap", ("compare",), 3,
           "The first run becomes the second."),
    Action("compare.detail", "enter", "detail", "detail", ("compare",), 4,
           "Open everything about the selected attempt: rows, prompt, answer."),
    Action("compare.before", "left_square_bracket", "attempt before", "attempt(-1)", ("compare",), 5,
           "Select the attempt before, in the story that has the keys."),
    Action("compare.after", "right_square_bracket", "attempt after", "attempt(1)", ("compare",), 6,
           "Select the attempt after, in the story that has the keys."),
    Action("compare.replay", "o", "replay", "replay", ("compare",), 7,
           "Open the run of the story that has the keys in Replay."),
    Action("all.search", "slash", "search", "search", (), 10,
           "Search the list."),
    Action("all.copy", "c", "copy", "copy", (), 11,
           "Copy the SQL of the selected attempt or memory."),
    Action("all.next", "tab", "pane", "next_pane(1)", (), 12,
           "Go to the next pane."),
    Action("all.previous", "shift+tab", "pane before", "next_pane(-1)", (), 0,
           "Go to the pane before."),
    Action("all.jump", "J", "jump", "jump", (), 0,
           "Jump mode: every pane and row gets a letter, and one key goes there."),
    Action("all.wider", "greater_than_sign", "wider", "share(1)", (), 0,
           "Give the list more of the width."),
    Action("all.narrower", "less_than_sign", "narrower", "share(-1)", (), 0,
           "Give the list less of the width."),
    Action("all.palette", "colon,ctrl+p", "commands", "app.command_palette", (), 13,
           "Find any action by its name."),
    Action("all.theme", "T", "theme", "app.next_theme", (), 0,
           "The next theme."),
    Action("all.picture", "S", "picture", "app.picture", (), 0,
           "Save this screen as an SVG picture."),
    Action("all.help", "question_mark,f1", "help", "app.help", (), 14,
           "Every key of this screen."),
    Action("all.quit", "q,ctrl+c,ctrl+q", "quit", "app.leave", (), 15,
           "Leave; asks first while a run goes on."),
)
# fmt: on

ROOM_ACTIONS: tuple[Action, ...] = tuple(
    Action(f"room.{room.name}", str(number), room.title, f"app.room('{room.name}')", (), 0,
           f"Go to {room.title}.")
    for number, room in enumerate(ROOMS, start=1)
)  # fmt: skip
"""The ways to the rooms."""

_KEY_NAMES = {"space": "space", "escape": "esc", "tab": "tab", "plus": "+", "minus": "-", "slash": "/"}
"""Keys whose name or character would not say which they are."""

MOVES = (
    ("up  k", "Up."),
    ("down  j", "Down."),
    ("pageup  pagedown", "A page up or down."),
    ("home  g", "To the first line."),
    ("end  G", "To the last line."),
)
"""Keys of every list and sheet, for the help."""

ON_SHEETS = (
    ("/", "Find words on this sheet."),
    ("n  N", "To the next place where they stand, to the one before."),
    ("c", "Copy what the sheet is about, where it can be copied."),
    ("esc  q", "Close the sheet."),
)
"""Keys of every sheet, for the help."""

MOVE_KEYS = frozenset(["up", "k", "down", "j", "pageup", "pagedown", "home", "g", "end", "G"])
"""The same as Textual names them: no action can have one of these."""


def actions_of(room: str) -> list[Action]:
    """What can be done in a room, its own actions first."""
    own = [action for action in ACTIONS if room in action.rooms]
    return own + [action for action in ACTIONS if not action.rooms]


def bindings_of(room: str) -> list[BindingType]:
    """The key bindings of a room's screen."""
    return [_binding(action) for action in actions_of(room)]


def room_bindings() -> list[BindingType]:
    """The key bindings that lead from room to room."""
    return [_binding(action) for action in ROOM_ACTIONS]


def _binding(action: Action) -> Binding:
    return Binding(
        action.keys,
        action.does,
        action.label,
        show=False,
        id=action.name,
        tooltip=action.about,
        # Before the focused pane is told of it: the keys behind it are for the field that it opens.
        priority=action.name == "all.search",
    )


def key_words(action: Action) -> str:
    """The action's keys as they stand on a keyboard."""
    return "  ".join(_on_keyboard(key) for key in action.keys.split(","))


def first_key(action: Action) -> str:
    """The one key that the key bar shows."""
    return _on_keyboard(action.keys.split(",")[0])


def _on_keyboard(key: str) -> str:
    """A key as it stands on a keyboard: its character where it has one."""
    *modifiers, base = key.split("+")
    character = key_to_character(base) or ""
    shown = _KEY_NAMES.get(base) or (character if character.isprintable() else "") or base
    return "+".join([*modifiers, shown])
