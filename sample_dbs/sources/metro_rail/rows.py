"""Rows of the metro: one autumn of trips, September to November 2025."""

from __future__ import annotations

from datetime import date

from sample_dbs.sources.draw import Draw, Row, Tables

ROUTES = {
    "R1": ("QRY", "MIL", "LIN", "KÖN", "MKT", "CEN", "OPR", "UNI", "HOS"),
    "B2": ("SAO", "FER", "PRT", "OPR", "CEN", "STA", "EXP"),
    "G3": ("PKW", "HOS", "UNI", "MKT", "KÖN", "STA"),
    "x9": ("CN2", "EXP", "AIR"),
}
BUSY = ("R1", "R1", "B2", "B2", "G3", "x9")
SERIES = (("M70", 148, 1972), ("M96", 172, 1996), ("M15", 204, 2015))
CAUSES_SEEN = ("SIG", "DOR", "CRW", "WTR", "PAX", "TRS")
# Staff 1 is the chief; the next two report to the chief, the supervisors to those two in turn.
BOSSES = {1: None, 2: 1, 3: 1, 4: 2, 5: 3, 6: 2, 7: 3, 8: 2, 9: 3}
SUPERVISORS = (4, 5, 6, 7, 8, 9)


def rows(draw: Draw, handwritten: Tables) -> Tables:
    """The rows of each table, in the order of its columns."""
    sets = _train_sets(draw)
    staff = _staff(draw)
    trips = _trips(draw, sets, staff)
    return {
        "Station": handwritten["Station"],
        "Line": handwritten["Line"],
        "LineStop": _stops(draw),
        "TrainSet": sets,
        "Staff": staff,
        "Trip": trips,
        "DelayCause": handwritten["DelayCause"],
        "Delay": _delays(draw, trips),
    }


def _stops(draw: Draw) -> list[Row]:
    made: list[Row] = []
    for line, stations in ROUTES.items():
        metres = 0
        for place, station in enumerate(stations, 1):
            made.append((line, place, station, metres / 1000))
            metres += 600 + 100 * draw.randrange(15) + (4000 if line == "x9" else 0)
    return made


def _train_sets(draw: Draw) -> list[Row]:
    made: list[Row] = []
    for number in range(301, 331):
        series, seats, first_built = draw.choice(SERIES)
        in_service = "N" if draw.odds(0.2) else "Y"
        made.append((number, series, seats, first_built + draw.randrange(4), in_service))
    return [*made, (399, "m96", None, None, "N")]


def _staff(draw: Draw) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(draw.people(46), 1):
        role = "SUP" if number in SUPERVISORS else "CTL" if number in BOSSES else "DRV"
        boss = BOSSES[number] if number in BOSSES else draw.choice(SUPERVISORS)
        hired = draw.day(date(1992, 1, 7), 11900)
        made.append((number, f"{given} {family}", role, boss, int(f"{hired:%Y%m%d}")))
    return [*made, (47, made[20][1], "DRV", 5, 20250901)]


def _trips(draw: Draw, sets: list[Row], staff: list[Row]) -> list[Row]:
    made: list[Row] = []
    drivers = [person[0] for person in staff if person[2] == "DRV"]
    for number in range(1, 421):
        day = draw.day(date(2025, 9, 1), 91)
        cancelled = draw.odds(0.08)
        train = None if cancelled and draw.odds(0.5) else sets[draw.low(30)][0]
        driver = None if cancelled and draw.odds(0.5) else draw.choice(drivers)
        departs = f"{5 + draw.randrange(19):02}{5 * draw.randrange(12):02}"
        line, direction, on = draw.choice(BUSY), draw.choice("UD"), int(f"{day:%Y%m%d}")
        made.append((number, line, train, driver, on, departs, direction, int(cancelled)))
    return made


def _delays(draw: Draw, trips: list[Row]) -> list[Row]:
    made: dict[tuple[object, object], Row] = {}
    for trip in trips:
        if trip[7] == 1:
            continue
        for _ in range(draw.choice((0, 0, 0, 1, 1, 2))):
            station = draw.choice(ROUTES[str(trip[1])])
            cause = None if draw.odds(0.1) else draw.choice(CAUSES_SEEN)
            made[trip[0], station] = (trip[0], station, 1 + draw.low(45), cause)
    return list(made.values())
