"""Rows of the film festival: ten days in May 2025."""

from __future__ import annotations

import random
from datetime import date, timedelta

from sample_dbs.sources.people import distinct_names

Row = tuple[object, ...]

COUNTRIES: list[Row] = [
    ("PT", "Portugal"),
    ("BR", "Brazil"),
    ("FR", "France"),
    ("DE", "Germany"),
    ("JP", "Japan"),
    ("HU", "Hungary"),
    ("TR", "Türkiye"),
    ("IE", "Ireland"),
    ("MX", "México"),
    ("NO", "Norway"),
    ("SU", "Soviet Union"),
]
FILMS = (
    ("A Maré", "The Tide", "PT", "Drama"), ("Casa Vazia", "Empty House", "PT", "Drama"),
    ("Os Relojoeiros", "The Watchmakers", "PT", "Documentary"), ("Noite de Sal", "Salt Night", "PT", "Thriller"),
    ("Sertão Elétrico", "Electric Backlands", "BR", "Science fiction"), ("Rio 3 A.M.", None, "BR", "Thriller"),
    ("O Último Circo", "The Last Circus", "BR", "Comedy"), ("Les Absents", "The Absent", "FR", "Drama"),
    ("L'Été des guêpes", "Summer of Wasps", "FR", "Comedy"), ("Zone grise", "Grey Zone", "FR", "Thriller"),
    ("Petites Mains", "Small Hands", "FR", "Documentary"), ("Nebelkinder", "Children of Fog", "DE", "Drama"),
    ("Der Prüfer", "The Examiner", "DE", "Comedy"), ("Grenzland", "Borderland", "DE", "Documentary"),
    ("雨の図書館", "Library of Rain", "JP", "Drama"), ("ロボットの春", "Robot Spring", "JP", "Animation"),
    ("夜行バス", "Night Bus", "JP", "Thriller"), ("A híd őre", "Keeper of the Bridge", "HU", "Drama"),
    ("Paprika!", None, "HU", "Animation"), ("Kış Işığı", "Winter Light", "TR", "Drama"),
    ("Boğaz", "The Strait", "TR", "Documentary"), ("The Peat Cutter", None, "IE", "Drama"),
    ("Sixteen Chapels", None, "IE", "Documentary"), ("Second Sun", None, "IE", "Science fiction"),
    ("El eco", "The Echo", "MX", "Documentary"), ("La niña de maíz", "The Corn Girl", "MX", "Animation"),
    ("Desierto 4", "Desert 4", "MX", "Science fiction"), ("Stille", "Silence", "NO", "Thriller"),
    ("Fisken", "The Fish", "NO", "Comedy"), ("Заря", "Dawn", "SU", "Drama"),
    ("The Echo", None, "IE", "Thriller"), ("Untitled (work in progress)", None, None, None),
)  # fmt: skip
VENUES: list[Row] = [
    (1, "Cinema Trindade", "Porto", 183, "Y"),
    (2, "Rivoli", "Porto", 840, "Y"),
    (3, "Batalha", "Porto", 341, "N"),
    (4, "Passos Manuel", "Porto", 160, "N"),
    (5, "Cine-Teatro", "Gaia", 420, "Y"),
    (6, "Open Air", "Matosinhos", None, "Y"),
    (7, "Rivoli", "Gaia", 95, "N"),
]
PRIZES: list[Row] = [
    (1, "Grand Prize", 20000),
    (2, "Audience Award", 5000),
    (3, "Best First Film", 7500),
    (4, "Documentary Prize", 7500),
    (5, "Critics' Mention", None),
]
SECTIONS = ("Competition", "Competition", "Panorama", "Panorama", "Midnight", "Family", "Retrospective")


def rows(rng: random.Random) -> dict[str, list[Row]]:
    """The rows of each table, in the order of its columns."""
    people = _people(rng)
    screenings = _screenings(rng)
    return {
        "countries": COUNTRIES,
        "films": _films(rng),
        "people": people,
        "credits": _credits(rng, len(people)),
        "venues": VENUES,
        "screenings": screenings,
        "tickets": _tickets(rng, screenings),
        "prizes": PRIZES,
        "nominations": _nominations(rng),
    }


def _films(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number, (original, english, country, genre) in enumerate(FILMS, 1):
        year = 1962 if country == "SU" else 2021 + rng.randrange(5)
        minutes = rng.choice((14, 52, *range(78, 160, 3)))
        runtime = None if country is None else f"{minutes} min"
        made.append((number, original, english, country, year, runtime, genre))
    return made


def _people(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(distinct_names(rng, 74), 1):
        country = None if rng.random() < 0.07 else rng.choice(COUNTRIES[:-1])[0]
        made.append((number, f"{given} {family}", country,
                     None if rng.random() < 0.15 else 1940 + rng.randrange(64)))  # fmt: skip
    return [*made, (75, made[30][1], "BR", 1999)]


def _credits(rng: random.Random, people: int) -> list[Row]:
    made: set[tuple[int, int, str]] = set()
    for film in range(1, len(FILMS)):
        director = 1 + rng.randrange(22)
        made.add((film, director, "DIR"))
        made.add((film, director if rng.random() < 0.4 else 1 + rng.randrange(people), "SCR"))
        if rng.random() < 0.7:
            made.add((film, 23 + rng.randrange(12), "CAM"))
        for _ in range(rng.randrange(5)):
            made.add((film, 20 + rng.randrange(people - 20), "ACT"))
    return sorted(made)


def _screenings(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 91):
        day = date(2025, 5, 9) + timedelta(days=rng.randrange(10))
        starts = f"{day.isoformat()} {rng.choice((10, 14, 16, 18, 21, 23)):02}:{rng.choice((0, 15, 30)):02}"
        made.append((number, 1 + rng.randrange(len(FILMS) - 3), 1 + rng.randrange(6), starts,
                     rng.choice(SECTIONS), rng.choice("YNN")))  # fmt: skip
    return made


def _tickets(rng: random.Random, screenings: list[Row]) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 621):
        screening = screenings[min(rng.randrange(80), rng.randrange(80))]
        kind = rng.choice("FFFFRRP")
        price = None if kind == "P" else {"F": 900, "R": 650}[kind] + (100 if screening[4] == "Competition" else 0)
        opening = date.fromisoformat(str(screening[3])[:10])
        sold = opening - timedelta(days=rng.randrange(30))
        made.append((number, screening[0], kind, price, sold.strftime("%d.%m.%Y"), rng.choice("YYYYN")))
    return made


def _nominations(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for prize in range(1, 6):
        films = sorted({1 + rng.randrange(29) for _ in range(7)})
        winner = rng.choice(films)
        made += [(prize, film, "W" if film == winner else "N") for film in films]
    return made
