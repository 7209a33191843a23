"""The Experiments room: runs, curves and tables."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from core.experiments.report import Curve
from stores.store import Store
from tests.streams import EPOCH, HOSTILE, run_events, settings
from tests.tui.console.stage import (
    SIZES,
    Annals,
    console,
    notices,
    on_screen,
    settled,
    sheet,
    until,
)
from tests.tui.console.studied import (
    PLANS,
    compared,
    computed,
    ran,
    replayed,
    room,
    screen,
    signs,
    study,
)
from tui.console.app import MeritoApp
from tui.console.archive import StoredRun
from tui.console.screens.compare import CompareScreen
from tui.console.stored import StoreArchive
from tui.console.studies import FRESH, going_on, grouped, run_label, seconds_left
from tui.console.widgets.curves import Curves

# What the runs are, before anything is on a screen.


def stored(strategy: str, **fields: Any) -> StoredRun:
    order, layout = fields.pop("order", 0), fields.pop("layout", "paper")
    known = {"id": strategy, "began": EPOCH, "about": "", "questions": 10, "finished": 0, "model": "m"}
    asked = settings(strategy=strategy, order_seed=order, layout=layout)
    return StoredRun(**{**known, "settings": asked, **fields})


def test_runs_on_the_same_questions_are_a_group_and_cells_of_an_experiment_too() -> None:
    groups = grouped(
        [
            stored("none", id="a"),
            stored("merit", id="b"),
            stored("merit", id="other", questions=99),
            stored("none", id="x0123abcd-none-0-ffff", began=EPOCH + 9),
            stored("merit", id="x0123abcd-merit-0-ffff", began=EPOCH + 8),
        ]
    )
    assert [[run.id for run in group.runs] for group in groups] == [
        ["x0123abcd-merit-0-ffff", "x0123abcd-none-0-ffff"],
        ["b", "a"],
        ["other"],
    ]
    assert [group.experiment for group in groups] == ["x0123abcd", "", ""]


def test_of_runs_that_are_alike_the_newest_is_compared() -> None:
    again = [stored("merit", id=f"merit-{n}", began=EPOCH + n) for n in range(3)]
    (group,) = grouped([*again, stored("none", id="none")])
    assert set(group.compared) == {"merit-2", "none"}
    assert len(group.runs) == 4


def test_labels_say_what_sets_runs_of_a_group_apart() -> None:
    runs = [
        stored("merit", id="a"),
        stored("merit", id="b", layout="conversation"),
        stored("none", id="c"),
        stored("none", id="d", order=None),
    ]
    (group,) = grouped(runs)
    assert {run.id: run_label(run, group) for run in group.runs} == {
        "a": "merit, paper, order 0",
        "b": "merit, conversation, order 0",
        "c": "none, order 0",
        "d": "none, file's order",
    }


def test_time_left_is_that_of_the_slowest_run_that_goes_on() -> None:
    now = EPOCH
    done = stored("none", finished=10, seconds=20.0, ended="finished", last_at=now)
    half = stored("merit", finished=5, seconds=50.0, last_at=now)
    begun = stored("iterative", finished=0, seconds=1.0, last_at=now)
    cut = stored("merito", finished=1, seconds=9.0, last_at=now - FRESH)
    assert seconds_left([done], set()) is None
    assert seconds_left([done, cut], set()) is None
    assert seconds_left([done, half, cut], {half.id}) == pytest.approx(50.0)
    mean = (20 + 50 + 9) / 16
    left = seconds_left([done, half, begun, cut], {half.id, begun.id})
    assert left == pytest.approx(max(50.0, 10 * mean))


def test_a_run_goes_on_where_somebody_writes_and_wrote_it_last() -> None:
    now = EPOCH
    slow = stored("merit", last_at=now - 10 * FRESH)
    older = stored("none", last_at=now - 11 * FRESH)
    ended = stored("iterative", last_at=now - 1, ended="finished")
    assert going_on([older, slow], True, now) == {slow.id}, "however long a model thinks"
    assert going_on([older, slow], False, now) == set()
    assert going_on([older, slow, ended], True, now) == set()
    beside = stored("merito", last_at=now - FRESH / 2)
    assert going_on([ended, beside, slow], True, now) == {beside.id}
    assert going_on([], True, now) == set()


# The room.


async def test_without_a_store_a_newcomer_reads_how_to_get_an_experiment() -> None:
    app = MeritoApp(room="experiments")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "merito bench repair" in on_screen(app)
        assert "merito demo" in on_screen(app)
        for key in ("v", "o", "space", "c", "C", "enter", "escape", "f5", "down"):
            await pilot.press(key)
        await settled(pilot)


async def test_a_store_without_runs_says_so() -> None:
    app = room([])
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "No run is stored yet" in on_screen(app))
        assert "merito bench repair" in on_screen(app)


async def test_runs_stand_with_their_accuracy_curves_and_tables() -> None:
    app = room(study())
    async with app.run_test(size=(200, 60)) as pilot:
        await computed(pilot, app)
        shown = on_screen(app)
        assert signs(app) == {"none-0", "iterative-0", "merit-0"}
        for words in ("71.4 %", "42.9 %", "28.6 %", "n=7", "7 questions judged", "finished"):
            assert words in shown
        text = sheet(app, "figures")
        assert "Execution accuracy" in text
        assert "Paired differences" in text
        row = next(line for line in text.splitlines() if line.startswith("merit ") and "71.43" in line)
        assert row.split()[:5] == ["merit", "7", "1", "28.57", "71.43"]


async def test_a_wide_table_is_cut_into_parts_and_no_column_is_lost() -> None:
    app = room(study())
    async with app.run_test(size=(80, 24)) as pilot:
        await computed(pilot, app)
        await pilot.press("enter")
        await settled(pilot)
        lines = sheet(app, "figures").splitlines()
        assert all(len(line) <= 80 for line in lines)
        text = " ".join(sheet(app, "figures").split())
        for heading in ("only first right", "McNemar", "tokens written", "oscillation %"):
            assert all(word in text for word in heading.split())


async def test_a_run_shows_its_settings() -> None:
    app = room([ran("merit", changes={"budget": 5, "strategy_fields": {"temperature": 0.5}})])
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("down")
        await settled(pilot)
        text = sheet(app, "figures")
        assert "merit-0" in text.splitlines()[0]
        for words in ("strategy merit", "K 5", "judged by denotation, spider", "temperature 0.5"):
            assert words in text


async def test_marks_choose_what_is_drawn_and_esc_takes_them_back() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("down", "space", "space")
        await until(pilot, lambda: len(signs(app)) == 2)
        await computed(pilot, app)
        assert signs(app) == {"iterative-0", "merit-0"}
        assert "2 marked" in on_screen(app)
        await pilot.press("escape")
        await until(pilot, lambda: len(signs(app)) == 3)


async def test_a_mark_on_the_line_above_marks_all_its_runs() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("space")
        await settled(pilot)
        assert set(screen(app).runs_list.marks) == {"none-0", "iterative-0", "merit-0"}
        await pilot.press("g", "space")
        await settled(pilot)
        assert not screen(app).runs_list.marks


async def test_a_search_narrows_the_runs() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("slash", *"merit", "enter")
        await settled(pilot)
        assert [row.run.id for row in screen(app).runs_list._rows if row.run] == ["merit-0"]
        await pilot.press("escape")
        await settled(pilot)
        assert screen(app).runs_list.row_count == 4


async def test_a_run_that_goes_on_is_followed_and_each_event_read_once() -> None:
    now = time.time()
    events = ran("merit", at=now - 30)
    cut = 1 + next(i for i, event in enumerate(events) if getattr(event, "position", 0) == 4)
    annals = Annals(ran("none", at=now - 60), events[:cut])
    annals.writer = True
    app = console(run_events(2), room="experiments", archive=annals)
    async with app.run_test(size=(200, 60)) as pilot:
        await computed(pilot, app)
        assert "> running" in on_screen(app)
        await pilot.press("down")
        await until(pilot, lambda: "left, about" in sheet(app, "figures"))
        annals.writer = False
        await until(pilot, lambda: on_screen(app).count("cut off") == 2)
        assert "left" not in on_screen(app)
        annals.writer = True
        await until(pilot, lambda: "> running" in on_screen(app))
        assert "left" in on_screen(app)
        assert "4/8" in on_screen(app)
        annals.add(events[cut:])
        await until(pilot, lambda: "4/8" not in on_screen(app))
        await computed(pilot, app)
        assert "> running" not in on_screen(app)
        asked = [after for run, after in annals.read if run == "merit-0"]
        assert asked == [0, events[cut - 1].seq]
        assert screen(app).studies.known_report(("merit-0", "none-0")) is not None


@pytest.mark.parametrize("rate", [0.0, 1.0, 0.714, None])
@pytest.mark.parametrize("width", [30, 60, 80, 140])
async def test_no_line_of_the_plot_is_wider_than_the_plot(rate: float | None, width: int) -> None:
    """`None`: values so near to each other that the axis needs fine numbers."""
    values = tuple(0.714 + n % 7 / 10_000 for n in range(500)) if rate is None else (rate,) * 5
    curves = [
        Curve(label=label, runs=(label,), values=values) for label in ("merito", "a longer strategy")
    ]
    app = App()  # type: ignore[var-annotated]
    async with app.run_test(size=(width, 16)) as pilot:
        plot = Curves()
        await app.mount(plot)
        plot.show(curves, None, "")
        await pilot.pause()
        lines = plot.render().plain.split("\n")
        assert max(map(len, lines)) <= plot.size.width
        assert len(lines) <= plot.size.height
        assert "n=5" in "".join(lines)
        numbers = [float(line.partition("┤")[0]) for line in lines if "┤" in line]
        assert all(0 <= number <= 100 for number in numbers)
        assert numbers == sorted(numbers, reverse=True)
        assert (len(numbers) == 1) == (rate is not None)


async def test_a_new_run_appears_by_itself_and_the_cursor_stays() -> None:
    annals = Annals(ran("none"), ran("iterative", at=EPOCH + 9))
    app = console(run_events(2), room="experiments", archive=annals)
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("down", "down")
        chosen = screen(app).runs_list.row
        annals.add(ran("merit", at=EPOCH + 99))
        await until(pilot, lambda: screen(app).runs_list.row_count == 4)
        assert screen(app).runs_list.row.key == chosen.key


async def test_nobody_looks_at_the_store_while_another_room_is_on_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui.console.screens.experiments._POLL", 0.01)
    annals, looked = Annals(ran("none")), []
    moved = annals.moved

    async def counted(known: Any) -> Any:
        looked.append(known)
        return await moved(known)

    annals.moved = counted  # type: ignore[method-assign]
    app = console(run_events(2), room="experiments", archive=annals)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(looked) > 2)
        await pilot.press("1")
        await until(pilot, lambda: app.current_mode == "run")
        await settled(pilot)
        looked.clear()
        await pilot.pause(0.1)
        assert not looked


async def test_tables_that_cannot_be_computed_are_named_and_the_rest_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def broken(*_: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("tui.experiments.reporting.reported", broken)
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "could not be computed" in sheet(app, "figures"))
        assert "RuntimeError" in notices(app)[-1]
        assert "71.4 %" in on_screen(app)


async def test_ids_are_copied_and_tables_for_a_spreadsheet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    app = room(study(prefix="x0123abcd-"))
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        for key, copied in (("c", "x0123abcd"), ("down", "x0123abcd"), ("c", "x0123abcd-iterative-0")):
            await pilot.press(key)
            await settled(pilot)
            assert app.clipboard == copied
        await pilot.press("C")
        await settled(pilot)
        lines = app.clipboard.splitlines()
        assert lines[0].startswith("Execution accuracy")
        assert lines[1].split("\t")[:3] == ["strategy", "questions", "orders"]


async def test_the_run_under_the_cursor_opens_in_replay() -> None:
    app = room(study())
    async with app.run_test(size=(120, 40)) as pilot:
        await computed(pilot, app)
        await pilot.press("o")
        assert "Choose a run" in notices(app)[-1]
        for run, keys in (("iterative-0", ("down",)), ("merit-0", ("4", "down"))):
            await pilot.press(*keys)
            await settled(pilot)
            await pilot.press("o")
            await until(pilot, lambda: app.current_mode == "replay")
            await settled(pilot)
            await until(pilot, lambda run=run: replayed(app) == run)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_hostile_names_are_shown_and_never_obeyed(size: tuple[int, int]) -> None:
    runs = [
        run_events(
            8,
            run=f"{HOSTILE}-{n}",
            plans=PLANS[strategy],
            run_settings=settings(strategy=f"{HOSTILE}{n}", dataset=HOSTILE, prompts=HOSTILE),
        )
        for n, strategy in enumerate(("none", "merit"))
    ]
    app = room(runs)
    async with app.run_test(size=size) as pilot:
        await computed(pilot, app)
        for keys in (("down",), ("tab",), ("tab",), ("tab", "v")):
            await pilot.press(*keys)
            await settled(pilot)
            shown = on_screen(app)
            assert not {char for char in shown if ord(char) < 32 and char != "\n"}
            assert "\u202e" not in shown
            if size[0] > 80:
                assert "[/x]" in shown
        assert isinstance(app.screen, CompareScreen)


async def test_resizing_keeps_what_is_chosen() -> None:
    app = room(study())
    async with app.run_test(size=(200, 60)) as pilot:
        await computed(pilot, app)
        await pilot.press("down", "down")
        chosen = screen(app).runs_list.row.key
        for size in (*SIZES, (40, 10), (200, 60)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
        assert screen(app).runs_list.row.key == chosen
        found = await compared(pilot, app, "escape", "up", "space", "space", "v")
        for size in (*SIZES, (40, 10), (120, 40)):
            await pilot.resize_terminal(*size)
            await settled(pilot)
        assert found.questions.pair is not None


async def test_a_real_store_is_followed_while_another_process_could_write_it(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    events = ran("merit", prefix="x0123abcd-", at=time.time())
    with Store.open(path, create=True) as writer:
        writer.append(ran("none", prefix="x0123abcd-"))
        writer.append(events[:40])
        with Store.open(path, mode="read") as reader:
            app = console(run_events(2), room="experiments", archive=StoreArchive(reader))
            async with app.run_test(size=(200, 60)) as pilot:
                await computed(pilot, app)
                assert "x0123abcd" in on_screen(app)
                writer.append(events[40:])
                await until(pilot, lambda: on_screen(app).count("8/8") == 2)
                await computed(pilot, app)
                assert "Experiment x0123abcd" in sheet(app, "figures")
