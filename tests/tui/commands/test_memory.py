"""`merito memory`, as it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.memory.entry import MemoryEntry, ReviewDecision, ReviewState
from stores.store import Store
from tests.streams import HOSTILE, memory_entry, question, run_events
from tui.main import run


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store that a run has taught, and that the command finds by its variable."""
    path = tmp_path / "merito.sqlite"
    with Store.open(path, create=True, durability="OFF") as store:
        store.append(run_events(16))
        store.keep([memory_entry(40, run="elsewhere", confirmed=False)], at=1.0)
    monkeypatch.setenv("MERITO_STORE", str(path))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """The same store, to look into."""
    with Store.open(path, mode="read") as opened:
        yield opened


class Typed:
    """What a command printed, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


Memory = Callable[..., Typed]


@pytest.fixture
def memory(capsys: pytest.CaptureFixture[str], path: Path) -> Memory:
    """Types `merito memory ...`."""

    def type_it(*words: str) -> Typed:
        code = run(["memory", *words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Typed(code, captured.out, captured.err)

    return type_it


def pending(store: Store) -> MemoryEntry:
    return next(entry for entry in store.entries() if not entry.confirmed)


def test_help_shows_an_example_of_each(memory: Memory) -> None:
    for name in ("list", "show", "search", "approve", "reject", "restore", "export", "import", "audit"):
        typed = memory(name, "--help")
        assert typed.code == 0
        assert f"merito memory {name}" in typed.out
        assert "--json" in typed.out
        assert "--store" in typed.out


def test_list_has_one_object_a_line(memory: Memory, store: Store) -> None:
    typed = memory("list", "--json")
    assert typed.code == 0
    assert [each["id"] for each in typed.objects] == [entry.id for entry in store.entries()]
    first = typed.objects[0]
    usage = store.usage(first["id"])
    assert first["state"] == "approved"
    assert (first["retrieved"], first["episodes"], first["repaired"]) == (
        usage.retrieved,
        usage.episodes,
        usage.repaired,
    )


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["--polarity", "Negative"], lambda each: each["polarity"] == "negative"),
        (["--type", "syntax"], lambda each: each["failure"] == "Syntax"),
        (["--state", "pending"], lambda each: each["state"] == "pending"),
        (["--run", "else"], lambda each: each["run"] == "elsewhere"),
        (["--database", "clinic"], lambda each: each["database"] == "clinic"),
        (["--text", "commission cost"], lambda each: each["database"] == "atelier"),
    ],
)
def test_list_narrows(memory: Memory, words: list[str], rule: Callable[[dict[str, Any]], bool]) -> None:
    every = memory("list", "--json").objects
    wanted = {each["id"] for each in every if rule(each)}
    assert wanted
    assert {each["id"] for each in memory("list", "--json", *words).objects} == wanted


def test_list_in_words(memory: Memory, store: Store) -> None:
    typed = memory("list", "--limit", "1")
    entry = store.entries()[0]
    assert typed.out.startswith(entry.id[:12])
    assert entry.context.question in typed.out
    nothing = memory("list", "--text", "zanzibar")
    assert (nothing.code, nothing.out) == (0, "")
    assert "No memory fits." in nothing.err


def test_show_tells_everything(memory: Memory, store: Store) -> None:
    entry = store.entries()[0]
    shown = memory("show", entry.id[:6], "--json").objects[0]
    assert shown["entry"]["context"]["failed_sql"] == entry.context.failed_sql
    assert shown["history"] == []
    typed = memory("show", entry.id[:6])
    for part in (entry.id, entry.context.question, entry.context.failed_sql, *entry.delta):
        assert part in typed.out


def test_decisions_are_kept_with_who_and_why(memory: Memory, path: Path, store: Store) -> None:
    entry = pending(store)
    for word, state in (("approve", "approved"), ("reject", "rejected")):
        typed = memory(word, entry.id[:8], "--who", "ada", "--remark", "[/x] {0}", "--json")
        assert typed.code == 0
        (decided,) = typed.objects
        assert (decided["memory"], decided["state"]) == (entry.id, state)
        assert (decided["who"], decided["remark"]) == ("ada", "[/x] {0}")
    assert [each.state.value for each in store.history(entry.id)] == ["approved", "rejected"]
    assert "rejected by ada" in memory("show", entry.id).out
    assert memory("restore", entry.id, "--json").objects[0]["state"] == "approved"
    assert store.review_states()[entry.id] is ReviewState.APPROVED
    assert len(store.history(entry.id)) == 3


def test_several_are_decided_together_or_not_at_all(memory: Memory, store: Store) -> None:
    first, second = (entry.id for entry in store.entries()[:2])
    typed = memory("reject", first, "nope")
    assert typed.code == 2
    assert "There is no memory 'nope'" in typed.err
    assert store.history(first) == []
    assert memory("reject", first, second, first[:9]).code == 0
    assert [len(store.history(each)) for each in (first, second)] == [1, 1]


@pytest.mark.parametrize("word", ["approve", "reject", "restore"])
def test_who_decides_is_the_flag_the_setting_or_the_login_name(
    word: str, memory: Memory, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    entry = store.entries()[0]
    memory("reject", entry.id)
    Path("merito.toml").write_text('who = "hedy"', encoding="utf-8")
    memory(word, entry.id)
    memory("approve", entry.id)
    memory(word, entry.id, "--as", "joan")
    memory("reject", entry.id, "--who", "")
    decided = [each.who for each in store.history(entry.id)]
    assert decided == ["grace", "hedy", "hedy", "joan", "hedy"]


def test_what_nobody_decided_is_not_restored(memory: Memory, store: Store) -> None:
    typed = memory("restore", store.entries()[0].id)
    assert typed.code == 1
    assert "Nobody has decided" in typed.err


def test_export_and_import_carry_everything(memory: Memory, store: Store, tmp_path: Path) -> None:
    entry = pending(store)
    memory("reject", entry.id, "--remark", "too narrow")
    typed = memory("export", str(tmp_path / "lessons"), "--json")
    assert [each["memories"] for each in typed.objects] == [7, 2, 0]
    other = tmp_path / "other.sqlite"
    taken = memory("import", str(tmp_path / "lessons"), "--store", str(other), "--json")
    assert taken.objects == [{"new": 9, "known": 0, "duplicates": 0}]
    again = memory("import", str(tmp_path / "lessons"), "--store", str(other), "--json")
    assert again.objects == [{"new": 0, "known": 9, "duplicates": 0}]
    with Store.open(other, mode="read") as copy:
        assert {each.id: each for each in copy.entries()} == {each.id: each for each in store.entries()}
        assert copy.history(entry.id) == store.history(entry.id)
        assert copy.review_states()[entry.id] is ReviewState.REJECTED
        assert copy.check() == ()


def test_export_can_be_narrowed(memory: Memory, tmp_path: Path) -> None:
    typed = memory("export", str(tmp_path / "x"), "--state", "pending", "--json")
    assert [each["memories"] for each in typed.objects] == [1, 0, 0]


def test_a_file_with_a_mistake_brings_nothing(memory: Memory, store: Store, tmp_path: Path) -> None:
    memory("export", str(tmp_path / "lessons"))
    file = tmp_path / "lessons" / "positives.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([*lines[:2], '{"entry": {}}']), encoding="utf-8")
    other = tmp_path / "other.sqlite"
    typed = memory("import", str(file), "--store", str(other))
    assert typed.code == 1
    assert "positives.jsonl, line 3" in typed.err
    assert not other.exists()


def test_audit_of_a_lawful_store(memory: Memory) -> None:
    typed = memory("audit", "--json")
    assert typed.code == 0
    (total,) = typed.objects
    assert total["violations"] == 0
    assert total["retrievals"] > 10
    assert "no violation" in memory("audit", "run").out


def test_audit_finds_what_was_planted(memory: Memory, path: Path) -> None:
    with Store.open(path) as store:
        first, *_, last = (entry for entry in store.entries() if entry.confirmed)
        number, body = store.database.execute(
            "SELECT number, body FROM events WHERE kind = 'memories_retrieved' LIMIT 1"
        ).fetchone()
        store.database.execute(
            "UPDATE events SET body = ? WHERE number = ?", (body.replace(first.id, last.id), number)
        )
    typed = memory("audit", "--json")
    assert typed.code == 1
    *found, total = typed.objects
    assert found[0]["rule"] == "own position"
    assert found[0]["memory"] == last.id
    assert total["violations"] == len(found)
    words = memory("audit")
    assert words.code == 1
    assert f"memory {last.id} was not legal" in words.out.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "zzz"], 2, "There is no memory 'zzz'"),
        (["list", "--run", "zzz"], 2, "There is no run 'zzz'"),
        (["audit", "zzz"], 2, "There is no run 'zzz'"),
        (["list", "--store", "typo.sqlite"], 2, "There is no store at typo.sqlite"),
        (["list", "--state", "lost"], 2, "'lost' is not one of"),
        (["approve"], 2, "Missing argument"),
        (["search"], 2, "Missing option '--question'"),
        (["search", "--question", "x", "--strategy", "iterative"], 2, "has no memory"),
        (["search", "--question", "x", "--strategy", "merti"], 2, "Did you mean 'merit'?"),
        (["import", "typo.jsonl"], 2, "typo.jsonl"),
        (["import", "empty.jsonl"], 1, "There is no memory in empty.jsonl."),
        (["import", "latin.jsonl"], 1, "latin.jsonl, line 1: this is not UTF-8 text"),
        (["list", "--store", "latin.jsonl"], 1, "is no Merito store"),
        (["list", "--store", "/dev/null"], 2, "is no file that can hold a store"),
    ],
)
def test_mistakes_get_one_line(
    memory: Memory, tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"\n")
    (tmp_path / "latin.jsonl").write_bytes(b'{"entry": "caf\xe9"}\n')
    typed = memory(*words)
    assert typed.code == code
    assert said in typed.err
    assert typed.out == ""


def test_memories_are_reviewed_and_imported_while_a_run_is_recorded(
    memory: Memory, path: Path, tmp_path: Path
) -> None:
    with Store.open(path) as writer:
        entry = writer.entries()[0]
        assert memory("export", str(tmp_path / "lessons")).code == 0
        assert memory("reject", entry.id, "--who", "bo").code == 0
        assert memory("import", str(tmp_path / "lessons")).code == 0
        assert [each.who for each in writer.history(entry.id)] == ["bo"]
        writer.append(run_events(4, run="run-7"))
        assert writer.check() == ()


def test_hostile_text_is_shown_and_harmless(memory: Memory, path: Path) -> None:
    with Store.open(path) as store:
        entry = memory_entry(60, run="elsewhere", asked=question(0, text=HOSTILE))
        store.keep([entry], at=1.0)
        store.review(
            ReviewDecision(
                memory=entry.id, state=ReviewState.REJECTED, who=HOSTILE, at=1.0, remark=HOSTILE
            )
        )
    for words in (["list"], ["show", entry.id]):
        out = memory(*words).out
        assert "[/x] [b]bold[/] {0}" in out
        assert not {"\x1b", "\x00", "\u202e"} & set(out)
    assert memory("show", entry.id, "--json").objects[0]["question"] == HOSTILE


@pytest.mark.slow
def test_search_explains_itself(memory: Memory, store: Store) -> None:
    """Every number can be worked out again from what is printed."""
    asked = ["search", "--question", "Which visits were long?", "--sql", "SELECT 1", "--json"]
    typed = memory(*asked, "--type", "Result Mismatch", "--explain")
    assert typed.code == 0, typed.err
    (found,) = typed.objects
    assert set(found) == {"query", "positive", "negative"}
    assert "Which visits were long?" in found["query"]["dense_text"]
    states = store.review_states()
    approved = {e.id: e for e in store.entries() if states[e.id] is ReviewState.APPROVED}
    for name in ("positive", "negative"):
        channel = found[name]
        legal = [e for e in approved.values() if e.polarity == name]
        typed_pool = [e for e in legal if e.failure == "Result Mismatch"]
        assert (channel["legal"], channel["typed"]) == (len(legal), len(typed_pool))
        assert channel["fallback"] == (len(typed_pool) < 3)
        pool = legal if channel["fallback"] else typed_pool
        candidates = channel["candidates"]
        assert {each["id"] for each in candidates} == {e.id for e in pool}
        assert [each["rank"] for each in candidates] == list(range(1, len(pool) + 1))
        for each in candidates:
            assert each["score"] == pytest.approx(0.75 * each["dense_norm"] + 0.25 * each["bm25_norm"])
            assert approved[each["id"]].context.question in each["lexical_text"]
            assert each["type_match"] == (approved[each["id"]].failure == "Result Mismatch")
    assert store.vectors_file.exists(), "each memory is embedded once"


WITHOUT_ENCODER = ["search", "--question", "Which visits were long?", "--strategy", "merit-no-dense"]


def test_search_keeps_to_what_was_learned_before_a_position(memory: Memory) -> None:
    found = memory(*WITHOUT_ENCODER, "--position", "4", "--explain", "--json").objects[0]
    ranked = found["positive"]["candidates"] + found["negative"]["candidates"]
    assert {each["source_position"] for each in ranked} == {1, 2, 3}
    own = memory(*WITHOUT_ENCODER, "--run", "elsew", "--include-pending", "--json").objects[0]
    assert [each["source_run"] for each in own["positive"]["candidates"]] == ["elsewhere"]


def test_search_leaves_the_same_question_out(memory: Memory, store: Store) -> None:
    entry = store.entries()[0]
    for further in ([], ["--database", entry.context.database]):
        words = ["search", "--question", entry.context.question.upper(), *further]
        found = memory(*words, "--strategy", "merit-no-dense", "--explain", "--json").objects[0]
        assert entry.id not in {each["id"] for each in found["positive"]["candidates"]}
        assert found["positive"]["candidates"]


def test_search_shows_only_what_a_prompt_would_get(memory: Memory) -> None:
    found = memory(*WITHOUT_ENCODER, "--json").objects[0]
    assert len(found["positive"]["candidates"]) == found["positive"]["taken"] == 3
    assert "lexical_text" not in found["positive"]["candidates"][0]
    out = memory(*WITHOUT_ENCODER, "--explain").out
    assert out.startswith("positive: ")
    assert out.count(" *") == 4
    assert "\nnegative: " in out


def test_search_in_an_empty_store(memory: Memory, tmp_path: Path) -> None:
    empty = tmp_path / "empty.sqlite"
    Store.create(empty).close()
    found = memory(*WITHOUT_ENCODER, "--explain", "--json", "--store", str(empty)).objects[0]
    assert found["positive"]["candidates"] == found["negative"]["candidates"] == []
    assert found["positive"]["legal"] == 0


LONG = "Which of the visits were longer than all those of the week before? " * 100


@pytest.fixture
def long_memory(path: Path) -> str:
    """The id of a memory about a long question."""
    entry = memory_entry(41, run="elsewhere", asked=question(41, text=LONG.strip()))
    with Store.open(path) as store:
        store.keep([entry], at=2.0)
    return entry.id


@pytest.mark.parametrize(
    "words",
    [
        ["list", "--text", "week before"],
        ["show", "{id}"],
        ["search", "--question", "visits", "--explain", "--include-pending", "--strategy",
         "merit-no-dense"],
    ],
    ids=["list", "show", "search"],
)  # fmt: skip
def test_a_pipe_gets_whole_texts_and_a_terminal_what_fits(
    words: list[str],
    long_memory: str,
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = [word.format(id=long_memory) for word in words]
    whole = memory(*asked).out
    assert LONG.strip() in whole
    assert "more characters" not in whole
    monkeypatch.setattr("tui.view.wrapping.width_of", lambda _out: 120)
    assert "more characters)" in " ".join(memory(*asked).out.split())
