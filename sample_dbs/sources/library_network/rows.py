"""Rows of the library network: two years of loans, 2024 and 2025."""

from __future__ import annotations

import random
from datetime import date, timedelta

from sample_dbs.sources.people import distinct_names

Row = tuple[object, ...]

BRANCHES: list[Row] = [
    (1, "Central", "Old Town", "1931-05-02", None),
    (2, "Harbour", "Docklands", "1978-09-15", 1),
    (3, "Hilltop", "Northside", "1984-03-01", 1),
    (4, "São Bento", "Riverside", "2003-11-20", 1),
    (5, "University", "Campus", "1966-10-10", None),
    (6, "Garden", "Campus", "2015-04-23", 5),
    (7, "Bookmobile", None, None, 1),
]
TITLES = (
    ("The Salt Road", 1987, "en", "Novel"), ("A Winter Without Clocks", 2011, "en", "Novel"),
    ("O Mapa do Silêncio", 1999, "pt", "Novel"), ("Die gläserne Stadt", 1974, "de", "Science fiction"),
    ("Seven Bridges", 2004, "en", "Crime"), ("La casa de los relojes", 1968, "es", "Novel"),
    ("Night Ferry", 2016, "en", "Crime"), ("Le jardin d'hiver", 1955, "fr", "Poetry"),
    ("The Cartographer's Niece", 2009, "en", "Novel"), ("Orbit of Small Things", 2020, "en", "Science fiction"),
    ("A hetedik szoba", 1982, "hu", "Crime"), ("Fjord", 2013, "no", "Crime"),
    ("Letters to a Lighthouse", 1949, "en", "Poetry"), ("How Bees Decide", 2018, "en", "Science"),
    ("Short History of Rain", 2001, "en", "Science"), ("El último tranvía", 1993, "es", "Crime"),
    ("The Blue Tin Drum", 1961, "en", "Children"), ("Otto and the Moon Fox", 2012, "en", "Children"),
    ("Der kleine Leuchtturm", 1979, "de", "Children"), ("A raposa azul", 2007, "pt", "Children"),
    ("Counting Crows at Dusk", 1996, "en", "Poetry"), ("Machines That Dream", 2022, "en", "Science fiction"),
    ("Ο κήπος", 1985, "el", "Poetry"), ("雪の駅", 1990, "ja", "Novel"),
    ("Cooking for Nine", 2014, "en", "Cookery"), ("Bread, Slowly", 2019, "en", "Cookery"),
    ("Sopas de Lisboa", 2010, "pt", "Cookery"), ("The Quiet Algorithm", 2021, "en", "Science"),
    ("Stone, Paper, River", 1977, "en", "Novel"), ("Zapiski z wyspy", 2002, "pl", "Novel"),
    ("The Last Signalman", 1938, "en", "Novel"), ("Cinders", 2015, "en", "Crime"),
    ("Cinders", 1958, "en", "Poetry"), ("Tales of the Reed Boat", None, "en", "Children"),
    ("Manual of Knots", 1926, "en", None), ("Un été à Tanger", 1971, "fr", "Novel"),
    ("Half a Mountain", 2017, "en", "Novel"), ("The Understudy", 2008, "en", "Crime"),
    ("Ice Atlas", 2023, "en", "Science"), ("Anonymous Verses", None, "la", "Poetry"),
)  # fmt: skip
COUNTRIES = ("Portugal", "Germany", "Ireland", "Spain", "Japan", "Hungary", "Norway", "Nigeria", None)
GROUPS = ("ADU", "ADU", "ADU", "ADU", "JUN", "JUN", "SEN")
FIRST_DAY = date(2024, 1, 2)


def rows(rng: random.Random) -> dict[str, list[Row]]:
    """The rows of each table, in the order of its columns."""
    authors = _authors(rng)
    copies = _copies(rng)
    patrons = _patrons(rng)
    loans = _loans(rng, copies, patrons)
    return {
        "branch": BRANCHES,
        "author": authors,
        "work": [(number, *title) for number, title in enumerate(TITLES, 1)],
        "work_author": _work_authors(rng, len(authors)),
        "copy": copies,
        "patron": patrons,
        "loan": loans,
        "fine": _fines(rng, loans),
    }


def _authors(rng: random.Random) -> list[Row]:
    people = [f"{given} {family}" for given, family in distinct_names(rng, 28)]
    known: list[Row] = [
        (number, name, rng.choice(COUNTRIES), 1890 + rng.randrange(105))
        for number, name in enumerate(people, 1)
    ]
    # Two people of one name, and one of whom nothing is known.
    return [*known, (29, people[0], "Ireland", 1951), (30, "Anonymous", None, None)]


def _work_authors(rng: random.Random, authors: int) -> list[Row]:
    links: set[tuple[int, int, str]] = set()
    for work in range(1, len(TITLES) + 1):
        links.add((work, 1 + rng.randrange(authors - 1), "W"))
        if rng.random() < 0.2:
            links.add((work, 1 + rng.randrange(authors - 1), "W"))
        if rng.random() < 0.35:
            links.add((work, 1 + rng.randrange(authors - 1), rng.choice("TI")))
    links.add((40, 30, "W"))
    return sorted(links)


def _copies(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number in range(150):
        work = 1 + number % 38
        acquired = date(2015, 1, 5) + timedelta(days=rng.randrange(3600))
        price = None if rng.random() < 0.08 else 450 + 5 * rng.randrange(700)
        branch = rng.choice((1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6))
        made.append((f"B{10007 + 13 * number}", work, branch, acquired.isoformat(),
                     rng.choice("GGGGWWD"), price))  # fmt: skip
    return [*made, ("b-old-1", 35, 1, None, None, None), ("b-old-2", 40, 5, "unknown", "D", None)]


def _patrons(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(distinct_names(rng, 84), 1):
        joined = date(2012, 1, 1) + timedelta(days=rng.randrange(4700))
        email = None if rng.random() < 0.2 else f"{family.lower().replace(' ', '')}{number}@example.org"
        home = None if rng.random() < 0.05 else 1 + rng.randrange(6)
        made.append((number, f"{given} {family}", rng.choice(GROUPS), home, joined.isoformat(), email,
                     "Y" if rng.random() < 0.15 else "N"))  # fmt: skip
    # Registered twice by mistake, and a record that nobody finished.
    twice = (85, made[3][1], made[3][2], made[3][3], "2023-02-14", made[3][5], "N")
    return [*made, twice, (86, "(test)", "ADU", None, None, "", None)]


def _loans(rng: random.Random, copies: list[Row], patrons: list[Row]) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 421):
        copy = copies[rng.randrange(150)]
        patron = patrons[min(rng.randrange(84), rng.randrange(84))]
        lent = FIRST_DAY + timedelta(days=rng.randrange(720))
        renewals = rng.choice((0, 0, 0, 0, 1, 1, 2, 3))
        due = lent + timedelta(days=21 * (renewals + 1))
        fate = rng.random()
        status = "X" if fate < 0.05 else "L" if fate < 0.17 else "R"
        back = lent + timedelta(days=3 + rng.randrange(21 * (renewals + 1) + 12))
        made.append((number, copy[0], patron[0], lent.isoformat(), due.isoformat(),
                     back.isoformat() if status == "R" else None, status, renewals))  # fmt: skip
    return made


def _fines(rng: random.Random, loans: list[Row]) -> list[Row]:
    made: list[Row] = []
    for loan in loans:
        back, due = loan[5], loan[4]
        late = isinstance(back, str) and isinstance(due, str) and back > due
        if loan[6] == "X" or late:
            amount = 1800 + 10 * rng.randrange(90) if loan[6] == "X" else 25 * (1 + rng.randrange(14))
            raised = back if late else due
            made.append((len(made) + 1, loan[0], amount, raised, rng.choice("YYN")))
    return made
