"""From a path to a data set: Spider's layout, BIRD's, or a plain table of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from core.database.files import DatabaseFolder
from core.datasets.bird import BIRD
from core.datasets.dataset import DataSet, Layout
from core.datasets.records import STDIN, Record, read_records
from core.datasets.spider import SPIDER
from core.datasets.table import TABLE
from core.errors import MeritoError, UsageMistake
from core.question import LeftOut, Question, Stream
from core.wording import counted

MALFORMED, NO_DATABASE = "malformed", "no database"
"""Why a question is left out."""
LAYOUTS = {layout.name: layout for layout in (SPIDER, BIRD, TABLE)}
AUTO = "auto"
QUESTION_FILES = ("dev.json", "mini_dev_sqlite.json", "questions.jsonl", "questions.csv")
"""What is looked for in a folder, in this order."""


def load(
    stream: str | Path,
    *,
    root: Path | None = None,
    dataset: str = AUTO,
    leave_broken_out: bool = False,
) -> DataSet:
    """Read a data set.

    `stream` is a folder in Spider's or BIRD's layout, a file of questions, or "-" for JSON lines on
    standard input. `root` holds the databases; without it, the folder of the file does. `dataset`
    is a name of `LAYOUTS`, or auto to tell from the fields. Questions whose database is missing
    are left out and named in `problems` and `left_out`.

    Raises MeritoError, one line that names file, record and field, for anything malformed. With
    `leave_broken_out` a malformed record is named and left out, too, as long as another is sound.
    """
    if dataset not in (AUTO, *LAYOUTS):
        raise UsageMistake(
            f"There is no data set layout '{dataset}'.", f"Choose one of {', '.join((AUTO, *LAYOUTS))}."
        )
    file = _question_file(stream)
    folder = DatabaseFolder(_root(file, root))
    records = read_records(file, broken_too=leave_broken_out)
    if not records:
        raise MeritoError(f"{file}: it holds no questions.", "Give a file with questions.")
    layout = _layout(file, records) if dataset == AUTO else LAYOUTS[dataset]
    questions, golds, places, broken = _questions(layout, records, leave_broken_out)
    present, missing = _with_database(questions, folder, root is None)
    return DataSet(
        name=_name(stream),
        protocol=layout.protocol,
        questions=Stream(present),
        golds={question.id: golds[question.id] for question in present if question.id in golds},
        folder=folder,
        places=places,
        problems=(*_told_broken(broken, len(records)), *_told_missing(missing, len(questions), folder)),
        left_out=(*broken, *missing),
    )


def _name(stream: str | Path) -> str:
    if str(stream) == STDIN:
        return "stdin"
    path = Path(stream)
    return (path if path.is_dir() else path.parent if path.stem == "dev" else path).resolve().stem


def _question_file(stream: str | Path) -> str | Path:
    if str(stream) == STDIN:
        return STDIN
    path = Path(stream)
    if not path.exists():
        raise UsageMistake(f"There is no file or folder {path}.", "Check the path.")
    if not path.is_dir():
        return path
    for name in QUESTION_FILES:
        if (path / name).is_file():
            return path / name
    raise UsageMistake(
        f"The folder {path} holds no file of questions.",
        f"Expected one of {', '.join(QUESTION_FILES)}; or name the file itself.",
    )


def _root(file: str | Path, root: Path | None) -> Path:
    if root is not None:
        return root
    if file == STDIN:
        raise UsageMistake(
            "Questions on standard input do not say where their databases are.", "Give --root DIR."
        )
    return Path(file).parent


def _layout(file: str | Path, records: Sequence[Record]) -> Layout:
    """Told from the file's ending and the first sound record's fields."""
    if file == STDIN or Path(file).suffix.lower() != ".json":
        return TABLE
    fields = next((record.fields for record in records if not record.trouble), {})
    if any(name in fields for name in BIRD.gold):
        return BIRD
    return SPIDER if any(name in fields for name in SPIDER.database) else TABLE


def _questions(
    layout: Layout, records: Sequence[Record], leave_broken_out: bool
) -> tuple[list[Question], dict[str, str], dict[str, str], list[LeftOut]]:
    """Questions, golds and places, and what is malformed, where such records may be left out."""
    gold_is_required = layout.gold_is_all_or_none and any(
        name in record.fields for record in records for name in layout.gold
    )
    questions, golds, seen = [], {}, dict[str, str]()
    left_out = []
    for index, record in enumerate(records):
        try:
            question = _question(layout, record, index)
            if question.id in seen:
                raise MeritoError(
                    f"{record.place}: the id {question.id!r} is taken already ({seen[question.id]}).",
                    "Give every question its own id.",
                )
            gold = record.text(layout.gold, required=gold_is_required)
        except MeritoError as broken:
            if not leave_broken_out:
                raise
            left_out.append(_broken(layout, record, broken))
            continue
        seen[question.id] = record.place
        questions.append(question)
        if gold.strip():
            golds[question.id] = gold
    if not questions:
        raise MeritoError(left_out[0].note, "Correct the file.")
    return questions, golds, seen, left_out


def _question(layout: Layout, record: Record, index: int) -> Question:
    if record.trouble:
        raise MeritoError(record.trouble)
    return Question(
        id=record.number_or_text(layout.id, index),
        database=record.text(layout.database, required=True),
        text=record.text(layout.question, required=True),
        evidence=record.text(layout.evidence),
        difficulty=record.text(layout.difficulty),
    )


def _broken(layout: Layout, record: Record, broken: MeritoError) -> LeftOut:
    def told(names: tuple[str, ...]) -> str:
        found = next((record.fields[name] for name in names if name in record.fields), "")
        return str(found) if isinstance(found, str | int) else ""

    return LeftOut(
        question=told(layout.id), database=told(layout.database), why=MALFORMED, note=broken.problem
    )


def _told_broken(broken: Sequence[LeftOut], records: int) -> Iterator[str]:
    if broken:
        of_all = f"{len(broken)} of {counted(records, 'record')}"
        yield f"{of_all} left out: malformed; the first: {broken[0].note}"


def _with_database(
    questions: Sequence[Question], folder: DatabaseFolder, beside_the_stream: bool
) -> tuple[list[Question], list[LeftOut]]:
    """The questions that can be run, and those whose database is missing, by database. Raises
    MeritoError where no question has one."""
    databases = dict.fromkeys(question.database for question in questions)
    missing = [name for name in databases if name not in folder]
    if len(missing) == len(databases):
        _nothing_to_run(missing[0], len(questions), folder, beside_the_stream)
    left_out = [
        LeftOut(question=question.id, database=name, why=NO_DATABASE)
        for name in missing
        for question in questions
        if question.database == name
    ]
    gone = frozenset(missing)
    return [question for question in questions if question.database not in gone], left_out


def _told_missing(missing: Sequence[LeftOut], questions: int, folder: DatabaseFolder) -> Iterator[str]:
    """A line for each database."""
    for name, count in Counter(each.database for each in missing).items():
        yield (
            f"{count} of {counted(questions, 'question')} left out: there is no database {name!r} under"
            f" {folder.root}."
        )


def _nothing_to_run(
    database: str, questions: int, folder: DatabaseFolder, beside_the_stream: bool
) -> NoReturn:
    who = "The question does not have" if questions == 1 else f"None of the {questions:,} questions has"
    first = f"it asks for {database!r}" if questions == 1 else f"the first asks for {database!r}"
    where, mend = f"under {folder.root}", folder.others_than(database)
    if beside_the_stream:
        where = f"in the stream's own folder, {folder.root}, which is searched without --root"
        mend = f"{mend} Name the folder of the databases: --root DIR."
    raise MeritoError(f"{who} its database {where} ({first}).", mend)
