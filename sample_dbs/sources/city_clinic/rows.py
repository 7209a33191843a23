"""Rows of the clinic: the appointments of 2025."""

from __future__ import annotations

import random
from datetime import date, timedelta

from sample_dbs.sources.people import distinct_names

Row = tuple[object, ...]

DEPARTMENTS: list[Row] = [
    ("CAR", "Cardiology", 2),
    ("DER", "Dermatology", 1),
    ("GEN", "General Medicine", 0),
    ("PED", "Paediatrics", 1),
    ("ORT", "Orthopaedics", 3),
    ("RES", "Research", None),
]
ILLNESSES: list[Row] = [
    ("I10", "Hypertension", "Y"),
    ("E11", "Type 2 diabetes", "Y"),
    ("J45", "Asthma", "Y"),
    ("L20", "Atopic dermatitis", "Y"),
    ("J06", "Common cold", "N"),
    ("M54", "Back pain", "N"),
    ("S93", "Ankle sprain", "N"),
    ("H10", "Conjunctivitis", "N"),
    ("B01", "Chickenpox", "N"),
    ("M81.0", "Ménière's disease", "Y"),
]
MEDICINES: list[Row] = [
    ("AML5", "Amlodipine", "tablet", 12),
    ("MET5", "Metformin", "tablet", 9),
    ("SAL1", "Salbutamol", "inhaler", 640),
    ("HYD1", "Hydrocortisone", "cream", 415),
    ("IBU4", "Ibuprofen", "tablet", 7),
    ("PAR5", "Paracetamol", "Tablet", 4),
    ("PAR1", "Paracetamol", "syrup", 380),
    ("CHL1", "Chloramphenicol", "drops", 295),
    ("BET2", "Betahistine", "tablet", 21),
    ("NEW0", "Trial substance", None, None),
]
USUAL_MEDICINE = {
    "I10": "AML5", "E11": "MET5", "J45": "SAL1", "L20": "HYD1", "J06": "PAR5", "M54": "IBU4",
    "S93": "IBU4", "H10": "CHL1", "B01": "PAR1", "M81.0": "BET2",
}  # fmt: skip


def rows(rng: random.Random) -> dict[str, list[Row]]:
    """The rows of each table, in the order of its columns."""
    people = distinct_names(rng, 110)
    doctors = _doctors(rng, people[:18])
    patients = _patients(rng, people[18:])
    visits = _appointments(rng, len(patients), len(doctors))
    diagnoses = _diagnoses(rng, visits)
    return {
        "DEPT": DEPARTMENTS,
        "DOC": doctors,
        "PAT": patients,
        "APPT": visits,
        "ICD": ILLNESSES,
        "APPT_ICD": diagnoses,
        "MED": MEDICINES,
        "RX": _prescriptions(rng, diagnoses),
    }


def _doctors(rng: random.Random, people: list[tuple[str, str]]) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(people, 1):
        started = date(1998, 2, 1) + timedelta(days=rng.randrange(9600))
        boss = None if number <= 3 else 1 + rng.randrange(min(number - 1, 6))
        dept = ("CAR", "DER", "GEN", "GEN", "PED", "ORT")[number % 6]
        made.append((number, family, given, dept, boss, started.strftime("%d/%m/%Y")))
    return [*made, (19, "Locum", None, None, None, None)]


def _patients(rng: random.Random, people: list[tuple[str, str]]) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(people, 1001):
        born = date(1938, 1, 1) + timedelta(days=rng.randrange(31000))
        postcode = rng.choice(("4000-123", "4050-010", "4100-321", "4150 777", None))
        made.append((number, family, given, rng.choice((1, 1, 2, 2, 2, 9)), born.strftime("%d/%m/%Y"),
                     postcode, rng.choice("YYYN")))  # fmt: skip
    first = made[11]
    return [*made, (1990, *first[1:5], "4000-123", "Y"), (1991, "Unknown", None, 9, None, None, None)]


def _appointments(rng: random.Random, patients: int, doctors: int) -> list[Row]:
    made: list[Row] = []
    for number in range(1, 361):
        day = date(2025, 1, 2) + timedelta(days=rng.randrange(360))
        patient = 1001 + min(rng.randrange(patients - 2), rng.randrange(patients - 2))
        doctor = None if rng.random() < 0.03 else 1 + rng.randrange(doctors - 1)
        time = None if rng.random() < 0.05 else f"{8 + rng.randrange(9):02}:{rng.choice((0, 15, 30, 45)):02}"
        status = "B" if day >= date(2025, 12, 1) else rng.choice("AAAAAACNN")
        made.append((number, patient, doctor, day.isoformat(), time, status,
                     rng.choice(("1A", "1B", "2A", "3C", "3c", None))))  # fmt: skip
    return made


def _diagnoses(rng: random.Random, visits: list[Row]) -> list[Row]:
    made: list[Row] = []
    for visit in visits:
        if visit[5] != "A":
            continue
        codes: list[object] = []
        for rank in range(1, rng.choice((2, 2, 3, 4))):
            code = rng.choice(ILLNESSES)[0]
            if code not in codes:
                codes.append(code)
                made.append((visit[0], code, rank if len(codes) == rank else len(codes)))
    return made


def _prescriptions(rng: random.Random, diagnoses: list[Row]) -> list[Row]:
    made: list[Row] = []
    for visit, code, _ in diagnoses:
        if rng.random() < 0.6:
            days = None if rng.random() < 0.1 else rng.choice((5, 7, 10, 30))
            made.append((len(made) + 1, visit, USUAL_MEDICINE[str(code)], rng.choice((1, 10, 20, 30)), days))
    return made
