"""Rows of the clinic: the appointments of 2025."""

from __future__ import annotations

from datetime import date

from sample_dbs.sources.draw import Draw, Row, Tables

USUAL_MEDICINE = {
    "I10": "AML5", "E11": "MET5", "J45": "SAL1", "L20": "HYD1", "J06": "PAR5", "M54": "IBU4",
    "S93": "IBU4", "H10": "CHL1", "B01": "PAR1", "M81.0": "BET2",
}  # fmt: skip
DEPARTMENT_OF = ("CAR", "DER", "GEN", "GEN", "PED", "ORT")
POSTCODES = ("4000-123", "4050-010", "4100-321", "4150 777", None)
QUARTERS = ("00", "15", "30", "45")
ROOMS = ("1A", "1B", "2A", "3C", "3c", None)
FIRST_BOOKED = date(2025, 12, 1)


def rows(draw: Draw, handwritten: Tables) -> Tables:
    """The rows of each table, in the order of its columns."""
    people = draw.people(110)
    doctors = _doctors(draw, people[:18])
    patients = _patients(draw, people[18:])
    visits = _appointments(draw)
    diagnoses = _diagnoses(draw, visits)
    return {
        "DEPT": handwritten["DEPT"],
        "DOC": doctors,
        "PAT": patients,
        "APPT": visits,
        "ICD": handwritten["ICD"],
        "APPT_ICD": diagnoses,
        "MED": handwritten["MED"],
        "RX": _prescriptions(draw, diagnoses),
    }


def _doctors(draw: Draw, people: list[tuple[str, str]]) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(people, 1):
        started = draw.day(date(1998, 2, 1), 9600)
        boss = None if number <= 3 else 1 + draw.randrange(min(number - 1, 6))
        made.append((number, family, given, DEPARTMENT_OF[number % 6], boss, f"{started:%d/%m/%Y}"))
    return [*made, (19, "Locum", None, None, None, None)]


def _patients(draw: Draw, people: list[tuple[str, str]]) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(people, 1001):
        sex, born = draw.choice((1, 1, 2, 2, 2, 9)), draw.day(date(1938, 1, 1), 31000)
        postcode, insured = draw.choice(POSTCODES), draw.choice("YYYN")
        made.append((number, family, given, sex, f"{born:%d/%m/%Y}", postcode, insured))
    # A patient filed twice, and one of whom nothing is known.
    return [
        *made,
        (1990, *made[11][1:5], "4000-123", "Y"),
        (1991, "Unknown", None, 9, None, None, None),
    ]


def _appointments(draw: Draw) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 361):
        day = draw.day(date(2025, 1, 2), 360)
        doctor = None if draw.odds(0.03) else 1 + draw.randrange(18)
        time = None if draw.odds(0.05) else f"{8 + draw.randrange(9):02}:{draw.choice(QUARTERS)}"
        status = "B" if day >= FIRST_BOOKED else draw.choice("AAAAAACNN")
        patient, room = 1001 + draw.low(92), draw.choice(ROOMS)
        made.append((number, patient, doctor, f"{day}", time, status, room))
    return made


def _diagnoses(draw: Draw, visits: list[Row]) -> list[Row]:
    made: list[Row] = []
    illnesses = list(USUAL_MEDICINE)
    for visit in visits:
        if visit[5] != "A":
            continue
        start, found = draw.randrange(len(illnesses)), draw.choice((1, 1, 2, 3))
        codes = [illnesses[(start + 3 * step) % len(illnesses)] for step in range(found)]
        made += [(visit[0], code, rank) for rank, code in enumerate(codes, 1)]
    return made


def _prescriptions(draw: Draw, diagnoses: list[Row]) -> list[Row]:
    made: list[Row] = []
    for visit, code, _ in diagnoses:
        if draw.odds(0.6):
            days = None if draw.odds(0.1) else draw.choice((5, 7, 10, 30))
            quantity = draw.choice((1, 10, 20, 30))
            made.append((len(made) + 1, visit, USUAL_MEDICINE[str(code)], quantity, days))
    return made
