"""Rows of the film festival: ten days in May 2025."""

from __future__ import annotations

from datetime import date, timedelta

from sample_dbs.sources.draw import Draw, Row, Tables

SECTIONS = ("Competition", "Competition", "Panorama", "Panorama", "Midnight", "Family", "Retrospective")
PRICES = {"F": 900, "R": 650, "P": None}
COMPETITION_SURCHARGE = 100
DIRECTORS = 22


def rows(draw: Draw, handwritten: Tables) -> Tables:
    """The rows of each table, in the order of its columns."""
    countries = [country[0] for country in handwritten["countries"]]
    people = _people(draw, countries)
    films = _films(draw, handwritten["films"])
    screenings = _screenings(draw, len(films))
    return {
        "countries": handwritten["countries"],
        "films": films,
        "people": people,
        "credits": _credits(draw, len(films), len(people)),
        "venues": handwritten["venues"],
        "screenings": screenings,
        "tickets": _tickets(draw, screenings),
        "prizes": handwritten["prizes"],
        "nominations": _nominations(draw, len(handwritten["prizes"]), len(films)),
    }


def _films(draw: Draw, titles: list[Row]) -> list[Row]:
    made: list[Row] = []
    for number, original, english, country, genre in titles:
        year = 1962 if country == "SU" else 2021 + draw.randrange(5)
        runtime = f"{draw.choice((14, 52, *range(78, 160, 3)))} min" if country else None
        made.append((number, original, english, country, year, runtime, genre))
    return made


def _people(draw: Draw, countries: list[object]) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(draw.people(74), 1):
        country = None if draw.odds(0.07) else draw.choice(countries[:-1])
        born = None if draw.odds(0.15) else 1940 + draw.randrange(64)
        made.append((number, f"{given} {family}", country, born))
    return [*made, (75, made[30][1], "BR", 1999)]


def _credits(draw: Draw, films: int, people: int) -> list[Row]:
    made: set[tuple[int, int, str]] = set()
    for film in range(1, films):
        director = 1 + draw.randrange(DIRECTORS)
        made.add((film, director, "DIR"))
        made.add((film, director if draw.odds(0.4) else 1 + draw.randrange(people), "SCR"))
        if draw.odds(0.7):
            made.add((film, DIRECTORS + 1 + draw.randrange(12), "CAM"))
        for _ in range(draw.randrange(5)):
            made.add((film, 20 + draw.randrange(people - 20), "ACT"))
    return sorted(made)


def _screenings(draw: Draw, films: int) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 91):
        day = draw.day(date(2025, 5, 9), 10)
        time = f"{draw.choice((10, 14, 16, 18, 21, 23))}:{draw.choice(('00', '15', '30'))}"
        film, venue = 1 + draw.randrange(films - 3), 1 + draw.randrange(6)
        made.append((number, film, venue, f"{day} {time}", draw.choice(SECTIONS), draw.choice("YNN")))
    return made


def _tickets(draw: Draw, screenings: list[Row]) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 621):
        screening = screenings[draw.low(80)]
        kind = draw.choice("FFFFRRP")
        price = PRICES[kind]
        if price is not None and screening[4] == "Competition":
            price += COMPETITION_SURCHARGE
        shown = date.fromisoformat(str(screening[3])[:10])
        sold = draw.day(shown - timedelta(days=29), 30)
        made.append((number, screening[0], kind, price, f"{sold:%d.%m.%Y}", draw.choice("YYYYN")))
    return made


def _nominations(draw: Draw, prizes: int, films: int) -> list[Row]:
    made: list[Row] = []
    for prize in range(1, prizes + 1):
        nominated = sorted({1 + draw.randrange(films - 3) for _ in range(7)})
        winner = draw.choice(nominated)
        made += [(prize, film, "W" if film == winner else "N") for film in nominated]
    return made
