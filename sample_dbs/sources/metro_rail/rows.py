"""Rows of the metro: one autumn of trips, September to November 2025."""

from __future__ import annotations

import random
from datetime import date, timedelta

from sample_dbs.sources.people import distinct_names

Row = tuple[object, ...]

STATIONS: list[Row] = [
    ("CEN", "Central", 1, "Centre", "Y", 1904),
    ("MKT", "Old Market", 1, "Centre", "N", 1904),
    ("OPR", "Opera", 1, "Centre", "N", 1911),
    ("PRT", "Port", 2, "South Bank", "Y", 1932),
    ("FER", "Ferry Pier", 2, "South Bank", None, 1932),
    ("SAO", "São Roque", 2, "South Bank", "Y", 1998),
    ("UNI", "University", 2, "Westfield", "Y", 1966),
    ("HOS", "Hospital", 2, "Westfield", "Y", 1966),
    ("PKW", "Parkway", 3, "Westfield", "N", 1971),
    ("LIN", "Linden Grove", 3, "Northgate", "N", 1949),
    ("KÖN", "Königsplatz", 2, "Northgate", "Y", 1949),
    ("MIL", "Mill Lane", 3, "Northgate", "N", 1951),
    ("STA", "Stadium", 3, "Eastside", "Y", 2006),
    ("EXP", "Expo", 4, "Eastside", "Y", 2006),
    ("AIR", "Airport", 4, "Eastside", "Y", 2011),
    ("QRY", "Quarry", 4, "Northgate", None, 1958),
    ("DEP", "Depot Halt", None, None, "N", None),
    ("CN2", "Central", 1, "Centre", "Y", 2011),
]
LINES: list[Row] = [
    ("R1", "Red", "red", "Mill Lane"),
    ("B2", "Harbour", "blue", "Port"),
    ("G3", "Green", "green", "Parkway"),
    ("x9", "Airport Express", None, "Expo"),
]
ROUTES = {
    "R1": ("QRY", "MIL", "LIN", "KÖN", "MKT", "CEN", "OPR", "UNI", "HOS"),
    "B2": ("SAO", "FER", "PRT", "OPR", "CEN", "STA", "EXP"),
    "G3": ("PKW", "HOS", "UNI", "MKT", "KÖN", "STA"),
    "x9": ("CN2", "EXP", "AIR"),
}
CAUSES: list[Row] = [
    ("SIG", "Signal failure", "Y"),
    ("DOR", "Door fault", "Y"),
    ("CRW", "Crew shortage", "Y"),
    ("WTR", "Flooding", "N"),
    ("PAX", "Passenger taken ill", "N"),
    ("TRS", "Trespasser on the track", "N"),
    ("ICE", "Ice", "N"),
]
CLOSED_STATION = "DEP"


def rows(rng: random.Random) -> dict[str, list[Row]]:
    """The rows of each table, in the order of its columns."""
    stops = _stops(rng)
    sets = _train_sets(rng)
    staff = _staff(rng)
    trips = _trips(rng, sets, staff)
    return {
        "Station": STATIONS,
        "Line": LINES,
        "LineStop": stops,
        "TrainSet": sets,
        "Staff": staff,
        "Trip": trips,
        "DelayCause": CAUSES,
        "Delay": _delays(rng, trips),
    }


def _stops(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for line, stations in ROUTES.items():
        metres = 0
        for place, station in enumerate(stations, 1):
            made.append((line, place, station, metres / 1000))
            metres += 600 + 100 * rng.randrange(15) + (4000 if line == "x9" else 0)
    return made


def _train_sets(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number in range(301, 331):
        series, seats, built = rng.choice((("M70", 148, 1972), ("M96", 172, 1996), ("M15", 204, 2015)))
        made.append((number, series, seats, built + rng.randrange(4), "N" if rng.random() < 0.2 else "Y"))
    return [*made, (399, "m96", None, None, "N")]


def _staff(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(distinct_names(rng, 46), 1):
        hired = date(1992, 1, 7) + timedelta(days=rng.randrange(11900))
        role = "CTL" if number <= 3 else "SUP" if number <= 9 else "DRV"
        boss = None if number == 1 else 1 if number <= 3 else 2 + number % 2 if number <= 9 else 4 + rng.randrange(6)
        made.append((number, f"{given} {family}", role, boss, int(hired.strftime("%Y%m%d"))))
    return [*made, (47, made[20][1], "DRV", 5, 20250901)]


def _trips(rng: random.Random, sets: list[Row], staff: list[Row]) -> list[Row]:
    made: list[Row] = []
    drivers = [person[0] for person in staff if person[2] == "DRV"]
    for number in range(1, 421):
        day = date(2025, 9, 1) + timedelta(days=rng.randrange(91))
        cancelled = rng.random() < 0.08
        train = None if cancelled and rng.random() < 0.5 else sets[min(rng.randrange(30), rng.randrange(30))][0]
        driver = None if cancelled and rng.random() < 0.5 else rng.choice(drivers)
        made.append((number, rng.choice(("R1", "R1", "B2", "B2", "G3", "x9")), train, driver,
                     int(day.strftime("%Y%m%d")), f"{5 + rng.randrange(19):02}{5 * rng.randrange(12):02}",
                     rng.choice("UD"), int(cancelled)))  # fmt: skip
    return made


def _delays(rng: random.Random, trips: list[Row]) -> list[Row]:
    made: dict[tuple[object, object], Row] = {}
    for trip in trips:
        if trip[7] == 1:
            continue
        for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
            station = rng.choice(ROUTES[str(trip[1])])
            minutes = 1 + min(rng.randrange(45), rng.randrange(45))
            cause = None if rng.random() < 0.1 else rng.choice(CAUSES[:-1])[0]
            made[trip[0], station] = (trip[0], station, minutes, cause)
    return list(made.values())
