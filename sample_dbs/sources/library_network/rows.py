"""Rows of the library network: two years of loans, 2024 and 2025."""

from __future__ import annotations

from datetime import date, timedelta

from sample_dbs.sources.draw import Draw, Row, Tables

COUNTRIES = ("Portugal", "Germany", "Ireland", "Spain", "Japan", "Hungary", "Norway", "Nigeria", None)
GROUPS = ("ADU", "ADU", "ADU", "ADU", "JUN", "JUN", "SEN")
COPIES = 150
PATRONS = 84


def rows(draw: Draw, handwritten: Tables) -> Tables:
    """The rows of each table, in the order of its columns."""
    authors = _authors(draw)
    copies = _copies(draw)
    patrons = _patrons(draw)
    loans = _loans(draw, copies, patrons)
    return {
        "branch": handwritten["branch"],
        "author": authors,
        "work": handwritten["work"],
        "work_author": _work_authors(draw, len(handwritten["work"]), len(authors)),
        "copy": copies,
        "patron": patrons,
        "loan": loans,
        "fine": _fines(draw, loans),
    }


def _authors(draw: Draw) -> list[Row]:
    names = [f"{given} {family}" for given, family in draw.people(28)]
    known: list[Row] = [
        (number, name, draw.choice(COUNTRIES), 1890 + draw.randrange(105))
        for number, name in enumerate(names, 1)
    ]
    # Two people of one name, and one of whom nothing is known.
    return [*known, (29, names[0], "Ireland", 1951), (30, "Anonymous", None, None)]


def _work_authors(draw: Draw, works: int, authors: int) -> list[Row]:
    credited = {(works, authors, "W")}
    for work in range(1, works + 1):
        credited.add((work, 1 + draw.randrange(authors - 1), "W"))
        if draw.odds(0.2):
            credited.add((work, 1 + draw.randrange(authors - 1), "W"))
        if draw.odds(0.35):
            credited.add((work, 1 + draw.randrange(authors - 1), draw.choice("TI")))
    return sorted(credited)


def _copies(draw: Draw) -> list[Row]:
    made: list[Row] = []
    for number in range(COPIES):
        acquired = draw.day(date(2015, 1, 5), 3600)
        price = None if draw.odds(0.08) else 450 + 5 * draw.randrange(700)
        branch = draw.choice((1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6))
        condition = draw.choice("GGGGWWD")
        made.append(
            (f"B{10007 + 13 * number}", 1 + number % 38, branch, f"{acquired}", condition, price)
        )
    return [*made, ("b-old-1", 35, 1, None, None, None), ("b-old-2", 40, 5, "unknown", "D", None)]


def _patrons(draw: Draw) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(draw.people(PATRONS), 1):
        joined = draw.day(date(2012, 1, 1), 4300)
        email = None if draw.odds(0.2) else f"{family.lower().replace(' ', '')}{number}@example.org"
        home = None if draw.odds(0.05) else 1 + draw.randrange(6)
        group, blocked = draw.choice(GROUPS), "Y" if draw.odds(0.15) else "N"
        made.append((number, f"{given} {family}", group, home, f"{joined}", email, blocked))
    # Registered twice by mistake, and a record that nobody finished.
    twice = (85, *made[3][1:4], "2023-02-14", made[3][5], "N")
    return [*made, twice, (86, "(test)", "ADU", None, None, "", None)]


def _loans(draw: Draw, copies: list[Row], patrons: list[Row]) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 421):
        barcode, patron = copies[draw.randrange(COPIES)][0], patrons[draw.low(PATRONS)][0]
        lent = draw.day(date(2024, 1, 2), 720)
        renewals = draw.choice((0, 0, 0, 0, 1, 1, 2, 3))
        allowed = 21 * (renewals + 1)
        status = "X" if draw.odds(0.05) else "L" if draw.odds(0.12) else "R"
        back = draw.day(lent + timedelta(days=3), allowed + 12)
        returned = f"{back}" if status == "R" else None
        due = lent + timedelta(days=allowed)
        made.append((number, barcode, patron, f"{lent}", f"{due}", returned, status, renewals))
    return made


def _fines(draw: Draw, loans: list[Row]) -> list[Row]:
    made: list[Row] = []
    for number, _, _, _, due, back, status, _ in loans:
        late = isinstance(back, str) and back > str(due)
        if status != "X" and not late:
            continue
        amount = 1800 + 10 * draw.randrange(90) if status == "X" else 25 * (1 + draw.randrange(14))
        made.append((len(made) + 1, number, amount, back if late else due, draw.choice("YYN")))
    return made
