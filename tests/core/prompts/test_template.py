"""Templates: a user's folder replaces the built-in files, and each mistake has one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import MeritoError
from core.prompts.template import BUILT_IN, FORMS, Templates, plain, read_template

INITIAL = "version: mine-1\nTables: {schema}\n\nAsked: {question}\n"


def own(folder: Path, text: str | bytes, name: str = "initial") -> Path:
    file = folder / f"{name}.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_every_built_in_template_is_in_order() -> None:
    assert {file.stem for file in BUILT_IN.glob("*.txt")} == set(FORMS)
    versions = Templates.load().versions
    assert len({version.partition("@")[0] for version in versions.values()}) == len(FORMS)


def test_a_folder_replaces_what_it_holds_and_nothing_else(tmp_path: Path) -> None:
    own(tmp_path, INITIAL)
    templates, built_in = Templates.load(tmp_path), Templates.load()
    assert templates["initial"].version == "mine-1"
    assert templates["repair"] == built_in["repair"]
    assert templates.digest != built_in.digest


def test_the_id_tells_an_edit_whose_version_was_left(tmp_path: Path) -> None:
    first = read_template("initial", own(tmp_path, INITIAL))
    second = read_template("initial", own(tmp_path, INITIAL.replace("Asked", "Question")))
    assert first.version == second.version
    assert first.id != second.id


def test_windows_files_read_the_same(tmp_path: Path) -> None:
    unix = read_template("initial", own(tmp_path, INITIAL))
    windows = read_template(
        "initial", own(tmp_path, b"\xef\xbb\xbf" + INITIAL.replace("\n", "\r\n").encode())
    )
    assert windows.paragraphs == unix.paragraphs


def test_doubled_braces_are_braces(tmp_path: Path) -> None:
    file = own(tmp_path, INITIAL + 'as JSON: {{"sql": "{question}"}}')
    filled = read_template("initial", file).fill({"schema": "S", "question": "Q"})
    assert filled.endswith('as JSON: {"sql": "Q"}')


def test_a_paragraph_without_values_is_left_out(tmp_path: Path) -> None:
    file = own(tmp_path, "version: v\n{schema}\n\nKnown:\n{evidence}\nObey it.\n\n{question}\n")
    template = read_template("initial", file)
    assert template.fill({"schema": "S", "question": "Q", "evidence": ""}) == "S\n\nQ"
    assert (
        template.fill({"schema": "S", "question": "Q", "evidence": "E"})
        == "S\n\nKnown:\nE\nObey it.\n\nQ"
    )


MISTAKES = {
    # the file's text: what the line must name
    "version: v\n{schema} {question} {gold}": "{gold}",
    "version: v\n{schema}": "{question}",
    "version: v\n{schema} {question": "“{question”",
    "version: v\n{schema} } {question}": "“} {question}”",
    "version: v\n{schema!r} {question}": "“{schema!r}",
    "version: v\n{} {schema} {question}": "“{}",
    "version: v\n{Schema} {question}": "“{Schema}",
    "{schema} {question}": "first line has no version",
    "version: two words\n{schema} {question}": "first line has no version",
    "": "first line has no version",
    b"version: v\n{schema} {question} \xe9": "not UTF-8",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_names_the_file_and_what_is_wrong(tmp_path: Path, text: str | bytes) -> None:
    file = own(tmp_path, text)
    with pytest.raises(MeritoError) as caught:
        Templates.load(tmp_path)
    assert str(file) in caught.value.problem
    assert MISTAKES[text] in caught.value.problem
    assert caught.value.mend
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_missing_and_a_file_of_no_prompt(tmp_path: Path) -> None:
    with pytest.raises(MeritoError, match="no folder of prompts"):
        Templates.load(tmp_path / "absent")
    own(tmp_path, INITIAL, "intial")
    with pytest.raises(MeritoError, match=r"intial\.txt is no prompt's file"):
        Templates.load(tmp_path)


def test_a_folder_in_a_files_place(tmp_path: Path) -> None:
    (tmp_path / "initial.txt").mkdir()
    with pytest.raises(MeritoError, match="cannot be read"):
        Templates.load(tmp_path)


@given(st.text(), st.text())
def test_values_are_never_read_as_templates(schema: str, question: str) -> None:
    template = Templates.load()["initial"]
    bare = template.fill({"schema": "\0", "question": "\1", "version": "v"})
    filled = template.fill({"schema": f"x{schema}x", "question": f"x{question}x", "version": "v"})
    assert (
        filled == bare.replace("\1", f"x{question}x").replace("\0", f"x{schema}x") or "\0" in question
    )


@given(st.text())
def test_what_a_model_is_shown_holds_no_chat_markers_and_can_be_sent(text: str) -> None:
    shown = plain(f"{text}<|im_end|>{text}<|im_start|>")
    assert "<|im_end|>" not in shown
    assert "<|im_start|>" not in shown
    assert shown.encode()
    assert plain(shown) == shown


def test_the_readme_lists_every_template_with_its_slots() -> None:
    lines = (BUILT_IN / "README.md").read_text("utf-8").splitlines()
    rows = {line.split("`")[1]: line for line in lines if line.startswith("| `")}
    assert set(rows) == {f"{name}.txt" for name in FORMS}
    for name, form in FORMS.items():
        *_, required, optional, _ = rows[f"{name}.txt"].split("|")
        assert set(required.split("`")[1::2]) == form.required
        assert set(optional.split("`")[1::2]) == form.optional
