"""Rows of the food market: the orders of 2025."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from sample_dbs.sources.people import distinct_names

Row = tuple[object, ...]

GROUPS: list[Row] = [
    ("FRE", "Fresh", None),
    ("FRU", "Fruit", "FRE"),
    ("VEG", "Vegetables", "FRE"),
    ("DAI", "Dairy & eggs", "FRE"),
    ("PAN", "Pantry", None),
    ("OIL", "Oils", "PAN"),
    ("GRA", "Grains", "PAN"),
    ("SWE", "Sweets", "PAN"),
    ("DRI", "Drinks", None),
    ("TEA", "Tea & coffee", "DRI"),
    ("JUI", "Juices", "DRI"),
    ("GIF", "Gift cards", None),
]
SUPPLIERS: list[Row] = [
    (1, "Quinta do Vale", "PT", "Inês Ferreira"),
    (2, "Huerta Núñez", "ES", "Álvaro Núñez"),
    (3, "Molkerei Schäfer", "DE", "Jürgen Schäfer"),
    (4, "Oliveto", "IT", None),
    (5, "Green Valley", "IE", "Ciarán O'Brien"),
    (6, "Green Valley", "UK", "Tom Green"),
    (7, "Tea House Yılmaz", "TR", "Elif Yılmaz"),
    (8, "Moulin d'Or", "FR", "Léa Lefèvre"),
    (9, "Nordic Berries", "se", ""),
    (10, "Closed Farm", None, None),
]
PRODUCTS = (
    ("Apples", "FRU", 5, 2.4, "kg", "Y"), ("Pears", "FRU", 1, 2.9, "kg", "N"),
    ("Blood oranges", "FRU", 2, 3.2, "kg", "Y"), ("Strawberries", "FRU", 9, 4.5, "box", "N"),
    ("Lingonberries", "FRU", 9, 5.8, "box", "Y"), ("Bananas", "FRU", 1, 1.9, "kg", "Y"),
    ("Tomatoes", "VEG", 2, 3.1, "kg", "Y"), ("Potatoes", "VEG", 5, 1.2, "kg", "N"),
    ("Leeks", "VEG", 6, 2.2, "piece", "N"), ("Jalapeños", "VEG", 2, 6.4, "kg", "N"),
    ("Spinach", "VEG", 1, 2.7, "bag", "Y"), ("Carrots", "VEG", 6, 1.4, "kg", "Y"),
    ("Whole milk", "DAI", 3, 1.3, "bottle", "Y"), ("Crème fraîche", "DAI", 3, 1.75, "cup", "N"),
    ("Eggs", "DAI", 5, 3.6, "dozen", "Y"), ("Butter", "DAI", 3, 2.85, "piece", "N"),
    ("Gruyère", "DAI", 8, 21.5, "kg", "N"), ("Olive oil", "OIL", 4, 9.8, "bottle", "Y"),
    ("Walnut oil", "OIL", 8, 12.4, "bottle", "N"), ("Olive oil", "OIL", 1, 8.9, "bottle", "N"),
    ("Spelt flour", "GRA", 8, 2.6, "bag", "Y"), ("Rye flour", "GRA", 3, 1.95, "bag", "N"),
    ("Basmati rice", "GRA", 7, 3.4, "bag", "N"), ("Oats", "GRA", 6, 1.6, "bag", "Y"),
    ("Dark chocolate", "SWE", 8, 3.3, "bar", "Y"), ("Marzipan", "SWE", 3, 4.1, "bar", "N"),
    ("Pastéis de nata", "SWE", 1, 6.5, "box", "N"), ("Lokum", "SWE", 7, 5.2, "box", "N"),
    ("Black tea", "TEA", 7, 4.7, "tin", "N"), ("Green tea", "TEA", 7, 5.9, "tin", "Y"),
    ("Espresso beans", "TEA", 4, 11.2, "bag", "Y"), ("Apple juice", "JUI", 5, 2.3, "bottle", "Y"),
    ("Orange juice", "JUI", 2, 2.8, "bottle", "N"), ("Elderflower cordial", "JUI", 6, 5.5, "bottle", "N"),
    ("Gift card 25", "GIF", None, 25.0, "piece", None), ("Quince paste", "SWE", 2, None, "box", "Y"),
)  # fmt: skip
CITIES = ("Porto", "Lisboa", "Lisboa", "Coimbra", "Braga", "Évora", "lisboa", None)
STATUSES = ("Shipped", "Shipped", "Shipped", "Shipped", "Paid", "Open", "Cancelled", "Refunded")
COURIERS = ("Bike Co.", "DHL", "Correio", "correio")


def rows(rng: random.Random) -> dict[str, list[Row]]:
    """The rows of each table, in the order of its columns."""
    products: list[Row] = [(number, *fields) for number, fields in enumerate(PRODUCTS, 1)]
    customers = _customers(rng)
    orders = _orders(rng, len(customers))
    return {
        "group": GROUPS,
        "supplier": SUPPLIERS,
        "product": products,
        "customer": customers,
        "order": orders,
        "order line": _lines(rng, orders, products),
        "delivery": _deliveries(rng, orders),
        "stock": _stock(rng, len(products)),
    }


def _customers(rng: random.Random) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(distinct_names(rng, 70), 1):
        since = datetime(2019, 1, 1) + timedelta(days=rng.randrange(2300))  # noqa: DTZ001
        made.append((number, given, family, rng.choice(CITIES), since.strftime("%d.%m.%Y"),
                     rng.choice("YYN")))  # fmt: skip
    same = (71, made[9][1], made[9][2], made[9][3], made[9][4], "N")
    return [*made, same, (72, None, "Cantina do Porto", "Porto", None, None)]


def _orders(rng: random.Random, customers: int) -> list[Row]:
    made: list[Row] = []
    at = datetime(2025, 1, 2, 8, 0)  # noqa: DTZ001
    for number in range(5001, 5241):
        at += timedelta(minutes=600 + 7 * rng.randrange(440))
        customer = 1 + min(rng.randrange(customers), rng.randrange(customers))
        channel = rng.choice(("web", "web", "app", "app", "Phone", None))
        made.append((number, customer, at.strftime("%Y-%m-%d %H:%M"), rng.choice(STATUSES), channel))
    return made


def _lines(rng: random.Random, orders: list[Row], products: list[Row]) -> list[Row]:
    made: list[Row] = []
    for order in orders:
        for line in range(1, 2 + rng.randrange(4)):
            product = products[rng.randrange(len(products) - 1)]
            price = float(str(product[4]))
            paid = round(price * rng.choice((0.9, 0.95, 1, 1, 1, 1.1)), 2)
            discount = rng.choice((None, None, None, 0.0, 5.0, 10.0, 25.0))
            quantity = rng.choice((0.5, 1.5)) if product[5] == "kg" and rng.random() < 0.4 else 1.0 + rng.randrange(6)
            made.append((order[0], line, product[0], quantity, paid, discount))
    return made


def _deliveries(rng: random.Random, orders: list[Row]) -> list[Row]:
    made: list[Row] = []
    for order in orders:
        if order[3] not in ("Shipped", "Refunded"):
            continue
        day = datetime.strptime(str(order[2]), "%Y-%m-%d %H:%M") + timedelta(days=1 + rng.randrange(5))  # noqa: DTZ007
        rating = None if rng.random() < 0.35 else 1 + max(rng.randrange(5), rng.randrange(5))
        made.append((order[0], rng.choice(COURIERS), day.strftime("%d.%m.%Y"), rating))
    return made


def _stock(rng: random.Random, products: int) -> list[Row]:
    made: list[Row] = []
    for product in range(1, products + 1):
        for warehouse in ("North", "South", "Île 3"):
            if rng.random() < 0.7:
                quantity = rng.choice((None, 0, 0, 4 + rng.randrange(30), *(10 + rng.randrange(90) for _ in range(9))))
                made.append((product, warehouse, quantity))
    return made
