"""Selection: stored choices are stepped through with their grounds; a newcomer reads what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from core.models.chat import Sampling, Usage
from core.question import Question
from core.run.events import CandidateDrawn, CandidatesSelected, EpisodeStarted
from stores.specs import KeptPool, KeptSelection, Specs, specs_path
from tests.core.selection.pools import choose, pool, preferring
from tui.console.app import MeritoApp
from tui.console.selections import KeptSelections
from tui.console.widgets.paper import Paper
from tui.console.widgets.selection import drafted_blocks
from tui.view.plain import PlainView

HOSTILE = "Which [b]boats[/b] {x}? [/nothing]"


async def kept(method: str = "map-sql", sizes: tuple[int, ...] = (4, 3), **more: int) -> KeptSelection:
    candidates = pool(*sizes, right=0, **more)
    taste = preferring(lambda index: float(index % 3))
    selection, _ = await choose(candidates, taste, method)
    return KeptSelection(
        pool="/pools/pool.jsonl",
        place=0,
        at=1.0,
        question=Question(id="q1", database="shop", text=HOSTILE, evidence="[evidence]"),
        candidates=candidates,
        selection=selection,
        consistent=False,
    )


class Memory:
    """Choices in memory."""

    def __init__(self, *kept: KeptSelection) -> None:
        self.kept = kept

    async def pools(self) -> Sequence[KeptPool]:
        names = dict.fromkeys(each.pool for each in self.kept)
        return [KeptPool(pool=name, questions=1, methods=("map-sql",), at=1.0) for name in names]

    async def selections(self, pool: str) -> Sequence[KeptSelection]:
        return [each for each in self.kept if each.pool == pool]


def sheet(app: MeritoApp) -> str:
    return app.screen.query_one("#selection", Paper).text


async def test_a_choice_is_shown_with_everything_it_rests_on() -> None:
    app = MeritoApp(room="selection")
    app.selections = Memory(await kept(errors=1))
    async with app.run_test(size=(140, 60)) as pilot:
        await pilot.pause()
        text = sheet(app)
    for said in (
        HOSTILE,
        "map-sql chose candidate",
        "of 8",
        "r4",
        "mean",
        "confidence",
        "P over",
        "calls",
    ):
        assert said in text, said
    for said in ("group 1", "group 3", "SELECT 6", "a second presentation led to another choice"):
        assert said in text, said


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_methods_and_pools_are_stepped_through(size: tuple[int, int]) -> None:
    other = msgspec.structs.replace(await kept("majority"), pool="/pools/other.jsonl")
    app = MeritoApp(room="selection")
    app.selections = Memory(await kept(), await kept("majority"), other)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "map-sql chose" in sheet(app) or size[0] < 100
        await pilot.press("m", "enter")
        await pilot.pause()
        assert "majority chose" in sheet(app)
        assert "most frequent" in sheet(app)
        await pilot.press("p")
        await pilot.pause()
        assert "other.jsonl" in str(app.screen.query_one("#choices").border_subtitle)


async def test_a_newcomer_reads_how_a_pool_is_made() -> None:
    app = MeritoApp(room="selection")
    app.selections = KeptSelections(Path("/nowhere/store.sqlite"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "merito select pool.jsonl" in app.export_screenshot().replace("&#160;", " ")


async def test_what_is_kept_beside_a_store_is_read_and_never_written(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with Specs(specs_path(store)) as specs:
        specs.keep_selections([await kept()])
    source = KeptSelections(store)
    (found,) = await source.pools()
    assert (found.pool, found.methods) == ("/pools/pool.jsonl", ("map-sql",))
    assert [each.question.text for each in await source.selections(found.pool)] == [HOSTILE]


def drawn(number: int) -> CandidateDrawn:
    return CandidateDrawn(
        run="r", seq=0, at=0.0, position=0, attempt=0, number=number, sampling=Sampling(seed=number),
        text="", sql=f"SELECT {number}", usage=Usage(), seconds=1.0,
    )  # fmt: skip


async def test_a_run_shows_its_candidates_as_they_come_and_then_the_choice() -> None:
    made = await kept()
    selected = CandidatesSelected(
        run="r", seq=0, at=0.0, position=0, attempt=0, candidates=made.candidates,
        selection=made.selection, agreed="SELECT 1",
    )  # fmt: skip
    assert [block.key for block in drafted_blocks([drawn(1)], None)] == ["drawing"]
    keys = [block.key for block in drafted_blocks([drawn(1)], selected)]
    assert keys[:3] == ["choice", "agreed", "heat"]


async def test_the_plain_view_tells_candidates_and_choice(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    made = await kept()
    view = PlainView(sys.stdout)
    view.show(EpisodeStarted(run="r", seq=0, at=0.0, position=0, question=made.question))
    view.show(drawn(1))
    view.show(
        CandidatesSelected(
            run="r",
            seq=0,
            at=0.0,
            position=0,
            attempt=0,
            candidates=made.candidates,
            selection=made.selection,
        )
    )
    out = capsys.readouterr().out
    assert "candidate 2 (seed 1): SELECT 1" in out
    assert "7 candidates in 2 groups of equal results: 4, 3" in out
    assert "chosen by map-sql" in out
    assert "do not agree" in out
