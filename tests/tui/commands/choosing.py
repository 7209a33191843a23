"""A shop, a pool and a model for the commands of selection."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.models.chat import ConstrainedSampling, Message, Sampling
from core.models.choosing import Choice
from core.selection.anatomy import Anatomy
from tests.core.selection.pools import is_verdict, verdict
from tests.encoders import HashingEncoder
from tests.scripted import Reply, Script, ScriptedModel
from tui.main import run

GOLDS = {
    "How many items are there?": "SELECT count(*) FROM item",
    "Which items cost more than 2?": "SELECT name FROM item WHERE price > 2",
    "What is the highest price?": "SELECT max(price) FROM item",
}


def make_shop(root: Path) -> Path:
    """A folder with the database `shop`, in the flat layout."""
    with closing(sqlite3.connect(root / "shop.sqlite")) as connection:
        connection.executescript(
            "CREATE TABLE item (name TEXT, price REAL);"
            "INSERT INTO item VALUES ('apple', 1), ('pear', 2.5), ('plum', 4)"
        )
    return root


def write_pool(root: Path, *records: Any) -> Path:
    """A pool file of these records."""
    path = root / "pool.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records), "utf-8")
    return path


def record(question_id: int, question: str, *sqls: str, **fields: Any) -> dict[str, Any]:
    """One question with its gold, and candidates of which the first is greedy."""
    sources = ["greedy", *(f"sample-{n}" for n in range(1, len(sqls)))]
    candidates = [{"source": source, "sql": sql} for source, sql in zip(sources, sqls, strict=False)]
    gold = GOLDS.get(question, "")
    base = {"question_id": question_id, "db_id": "shop", "question": question, "gold_sql": gold}
    return {**base, "candidates": candidates, **fields}


def write_training(root: Path) -> Path:
    """Three training pairs."""
    path = root / "train.json"
    pairs = [{"db_id": "shop", "question": text, "query": sql} for text, sql in GOLDS.items()]
    path.write_text(json.dumps(pairs), "utf-8")
    return path


def helpful(messages: Sequence[Message], sampling: Sampling) -> Reply:
    """Writes specifications as the tree has them, ranks the last letter first, and says yes to what
    counts."""
    text = messages[0].content
    if isinstance(sampling, ConstrainedSampling):
        gold = text.partition("Correct query:\n")[2].partition("\n\n")[0]
        return msgspec.json.encode(Anatomy(gold).rebuilt()).decode()
    if is_verdict(messages):
        return verdict(95 if "count(*)" in text.partition("[A]\n")[2] else 5)
    letters = re.findall(r"^\[([A-Z])\]$", text, re.MULTILINE)
    return "50" if "whole number" in text else " > ".join(f"[{each}]" for each in reversed(letters))


class Stage:
    """Runs commands against a scripted model, and keeps what they printed."""

    def __init__(
        self, root: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        self.root, self._capsys = make_shop(root), capsys
        self.store = root / "store.sqlite"
        self.out = self.err = ""
        self.models: list[ScriptedModel] = []
        self.script: Script = helpful
        patch.setattr("tui.engines.choose", self._choose)
        patch.setattr("core.memory.embedding.EncoderProcess", lambda *_a, **_k: HashingEncoder())
        for name in ("DATA", "CONFIG", "CACHE", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(root / name.lower()))

    async def _choose(self, *_asked: Any) -> Choice:
        model = ScriptedModel(lambda m, s: self.script(m, s), context_tokens=100_000)
        self.models.append(model)
        return Choice(model=model, why=())

    def __call__(self, *arguments: object) -> int:
        code = run([*map(str, arguments), "--store", str(self.store)])
        self.out, self.err = self._capsys.readouterr()
        return code

    @property
    def bank(self) -> Path:
        """Where the memories are."""
        return self.store.with_name(f"{self.store.name}.specs")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON lines that were printed."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def calls(self) -> int:
        """Calls that reached a model, over all commands."""
        return sum(len(model.calls) for model in self.models)
