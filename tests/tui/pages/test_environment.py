"""Every page: one frame, nothing loaded, all text escaped."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from tui.pages.environment import template, write_page


def page(folder: Path, body: str) -> jinja2.Template:
    source = '{% extends "page.html.jinja" %}{% block title %}{{ title }}{% endblock %}'
    (folder / "some.html.jinja").write_text(f"{source}{{% block body %}}{body}{{% endblock %}}")
    return template("some.html.jinja", folder)


def test_text_is_text_wherever_it_stands(tmp_path: Path) -> None:
    made = page(tmp_path, '<p title="{{ title }}">{{ title | one_line }}</p>')
    shown = made.render(title="</title><script>alert(1)</script>\" onclick='x' \x1b[31m\x00")
    assert "<script" not in shown
    assert "onclick='x'" not in shown
    assert "\x1b" not in shown.split("<body>")[1].split("title=")[1].split(">", 1)[1]


def test_a_page_may_load_and_run_nothing(tmp_path: Path) -> None:
    shown = page(tmp_path, "").render(title="t")
    assert "default-src 'none'" in shown
    assert "<script" not in shown
    assert "http://" not in shown
    assert "https://" not in shown
    assert "url(" not in shown
    assert "prefers-color-scheme" in shown or "light-dark(" in shown
    assert "@media print" in shown


def test_what_is_not_given_is_an_error_and_no_hole(tmp_path: Path) -> None:
    with pytest.raises(jinja2.UndefinedError):
        page(tmp_path, "{{ forgotten }}").render(title="t")


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "p.html"
    write_page(
        path, page(tmp_path, "{% for n in many %}{{ n }} {% endfor %}"), title="t", many=range(999)
    )
    text = path.read_text()
    assert " 998 " in text
    assert text.rstrip().endswith("</html>")


def test_a_page_that_fails_half_way_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "p.html"
    with pytest.raises(ZeroDivisionError):
        write_page(path, page(tmp_path, "{{ 1 // n }}"), title="t", n=0)
    assert not path.exists()
