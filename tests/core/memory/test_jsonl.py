"""Memories as files: nothing is lost, and every mistake is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import MeritoError
from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Polarity, ReviewDecision, ReviewState
from core.memory.jsonl import Reviewed, from_line, read, read_some, to_line, write
from tests.core.memory.memories import memory

texts = st.text(max_size=20) | st.sampled_from(
    [
        "\ud800 alone",
        "line\nbreak\r\n",
        "\u2028\u2029\x85",
        "\x00",
        '"quoted" \\',
        "[bold]",
        "é 🙂",
        "\ufeff",
    ]
)

entries = st.builds(
    memory,
    st.integers(0, 20),
    question=texts,
    failed_sql=texts,
    revised_sql=texts,
    message=texts,
    schema_text=texts,
    database=texts,
    run=texts,
    delta=st.lists(texts, max_size=3).map(tuple),
    reflections=st.lists(texts, max_size=2).map(tuple),
    polarity=st.sampled_from(list(Polarity)),
    failure=st.sampled_from(list(FailureType)),
    status=st.sampled_from([Status.DENOTATION_MISMATCH, Status.TIMEOUT]),
    confirmed=st.booleans(),
)


def _reviewed(entry: MemoryEntry, decisions: list[tuple[ReviewState, str, float]]) -> Reviewed:
    return Reviewed(
        entry=entry,
        reviews=tuple(
            ReviewDecision(memory=entry.id, state=state, who=who, at=at, remark=who)
            for state, who, at in decisions
        ),
    )


reviewed = st.builds(
    _reviewed,
    entries,
    st.lists(st.tuples(st.sampled_from(list(ReviewState)), texts, st.floats(0, 2e9)), max_size=3),
)


@settings(max_examples=100, deadline=None)
@given(memories=st.lists(reviewed, max_size=8, unique_by=lambda one: one.entry.id))
def test_written_and_read_they_are_the_same(
    memories: list[Reviewed], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("export")
    counts = write(folder, memories)
    filed = {kind: [one for one in memories if one.entry.polarity is kind] for kind in Polarity}
    assert counts == {kind: len(each) for kind, each in filed.items()}
    imported = read([folder])
    assert list(imported.memories) == [one for each in filed.values() for one in each]
    assert imported.duplicates == 0
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    write(folder, imported.memories)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first


def test_a_line_is_readable() -> None:
    line = to_line(Reviewed(entry=memory(question="Où?"))).decode()
    assert "Où?" in line
    assert "\n" not in line
    assert json.loads(line)["reviews"] == []
    assert json.loads(line)["entry"]["version"] == 3


def test_an_id_that_occurs_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, [Reviewed(entry=memory(1)), Reviewed(entry=memory(2))])
    path = tmp_path / "positives.jsonl"
    imported = read([path, path])
    assert [one.entry.id for one in imported.memories] == [memory(1).id, memory(2).id]
    assert imported.duplicates == 2


def test_empty_lines_and_a_byte_order_mark_are_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + to_line(Reviewed(entry=memory())) + b"\r\n\n  \n")
    assert len(read([path]).memories) == 1


def test_an_import_of_nothing_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path, [])
    assert read([tmp_path]).memories == ()
    with pytest.raises(MeritoError, match=f"There is no memory in {tmp_path}"):
        read_some([tmp_path])


def changed(path: str, value: Any) -> bytes:
    """A right line with the field at `path` replaced; None takes it out."""
    plain = json.loads(to_line(_reviewed(memory(), [(ReviewState.REJECTED, "ada", 1.0)])))
    *parents, last = path.split(".")
    inner = plain
    for name in parents:
        inner = inner[int(name)] if isinstance(inner, list) else inner[name]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return json.dumps(plain).encode()


MISTAKES = {
    "no JSON": (b"{", "this is not one line of JSON"),
    "no UTF-8": (b'{"entry": "\xff"}', "this is not UTF-8 text (byte 12 is 0xff)"),
    "UTF-16": ('{"entry": 1}'.encode("utf-16"), "this is not UTF-8 text (byte 1 is 0xff)"),
    "no object": (b"[1]", "expected `object`, got `array`"),
    "too deep": (b"[" * 100_000, "this is not one line of JSON"),
    "no entry": (changed("entry", None), "field entry: it is missing"),
    "another version": (changed("entry.version", 4), "field entry.version is 4; this program reads 3"),
    "a missing field": (
        changed("entry.context.question", None),
        "field entry.context.question: it is missing",
    ),
    "a wrong type": (
        changed("entry.provenance.position", "x"),
        "field entry.provenance.position: expected `int`",
    ),
    "an unknown word": (
        changed("entry.polarity", "neutral"),
        "field entry.polarity: invalid enum value",
    ),
    "an unknown state": (
        changed("reviews.0.state", "maybe"),
        "field reviews[0].state: invalid enum value",
    ),
    "another's review": (
        changed("reviews.0.memory", "m-1"),
        "field reviews[0].memory is not the entry's id",
    ),
}


@pytest.mark.parametrize(("line", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_by_file_line_and_field(line: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(to_line(Reviewed(entry=memory())) + b"\n" + line + b"\n")
    with pytest.raises(MeritoError) as raised:
        read([path])
    assert raised.value.problem.startswith(f"{path}, line 2: ")
    assert said in raised.value.problem
    assert "\n" not in str(raised.value)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match="none of positives"):
        read([tmp_path])
    with pytest.raises(MeritoError, match="Cannot read "):
        read([tmp_path / "gone.jsonl"])
    (tmp_path / "file").write_text("")
    with pytest.raises(MeritoError, match="Cannot write the memories to"):
        write(tmp_path / "file", [])


def test_a_line_read_by_itself() -> None:
    one = Reviewed(entry=memory())
    assert from_line(to_line(one).decode(), "here") == one
