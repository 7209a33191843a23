"""Names of invented people, from several languages, so that text columns hold more than ASCII."""

from __future__ import annotations

import random

GIVEN = (
    "Ada", "Björn", "Chloé", "Dmitri", "Elif", "Fatima", "Giulia", "Håkon", "Inês", "João",
    "Katarzyna", "Léa", "Mei", "Núria", "Oluwaseun", "Priya", "Quentin", "Rosa", "Søren", "Tomasz",
    "Uma", "Vojtěch", "Wanda", "Ximena", "Yuki", "Zoltán", "Álvaro", "Émile", "Ödön", "Şirin",
)  # fmt: skip
FAMILY = (
    "Almeida", "Bergström", "Castañeda", "Dvořák", "Eriksen", "Ferreira", "García", "Horváth",
    "Ivanov", "Jørgensen", "Kovács", "Lefèvre", "Müller", "Nakamura", "O'Brien", "Pérez",
    "Quiroga", "Rossi", "Schäfer", "Tanaka", "Ueda", "van Dijk", "Wójcik", "Xu", "Yılmaz",
    "Zieliński", "Adeyemi", "Nguyễn", "St. John", "D'Angelo",
)  # fmt: skip


def distinct_names(rng: random.Random, count: int) -> list[tuple[str, str]]:
    """`count` different (given name, family name) pairs, in an order that the seed decides."""
    pairs = [(given, family) for given in GIVEN for family in FAMILY]
    chosen: list[tuple[str, str]] = []
    for _ in range(count):
        chosen.append(pairs.pop(rng.randrange(len(pairs))))
    return chosen
