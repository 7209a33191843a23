"""Rows of the food market: the orders of 2025."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from sample_dbs.sources.draw import Draw, Row, Tables

CITIES = ("Porto", "Lisboa", "Lisboa", "Coimbra", "Braga", "Évora", "lisboa", None)
STATUSES = ("Shipped", "Shipped", "Shipped", "Shipped", "Paid", "Open", "Cancelled", "Refunded")
DELIVERED = ("Shipped", "Refunded")
COURIERS = ("Bike Co.", "DHL", "Correio", "correio")
CHANNELS = ("web", "web", "app", "app", "Phone", None)
DISCOUNTS = (None, None, None, 0.0, 5.0, 10.0, 25.0)
PRICE_CHANGES = (0.9, 0.95, 1.0, 1.0, 1.0, 1.1)
WAREHOUSES = ("North", "South", "Île 3")


def rows(draw: Draw, handwritten: Tables) -> Tables:
    """The rows of each table, in the order of its columns."""
    products = handwritten["product"]
    customers = _customers(draw)
    orders = _orders(draw, len(customers))
    return {
        "category": handwritten["category"],
        "supplier": handwritten["supplier"],
        "product": products,
        "customer": customers,
        "order": orders,
        "order_line": _lines(draw, orders, products),
        "delivery": _deliveries(draw, orders),
        "stock": _stock(draw, products),
    }


def _customers(draw: Draw) -> list[Row]:
    made: list[Row] = []
    for number, (given, family) in enumerate(draw.people(70), 1):
        since = draw.day(date(2019, 1, 1), 2190)
        made.append(
            (number, given, family, draw.choice(CITIES), f"{since:%d.%m.%Y}", draw.choice("YYN"))
        )
    twice = (71, *made[9][1:5], "N")
    return [*made, twice, (72, None, "Cantina do Porto", "Porto", None, None)]


def _orders(draw: Draw, customers: int) -> list[Row]:
    made: list[Row] = []
    at = datetime.fromisoformat("2025-01-02 08:00")
    for number in range(5001, 5241):
        at += timedelta(minutes=600 + 7 * draw.randrange(440))
        customer = 1 + draw.low(customers)
        made.append(
            (number, customer, f"{at:%Y-%m-%d %H:%M}", draw.choice(STATUSES), draw.choice(CHANNELS))
        )
    return made


def _lines(draw: Draw, orders: list[Row], products: list[Row]) -> list[Row]:
    made: list[Row] = []
    priced = [product for product in products if isinstance(product[4], float)]
    for order in orders:
        for line in range(1, 2 + draw.randrange(4)):
            number, _, _, _, listed, unit, _ = draw.choice(priced)
            price = round(float(str(listed)) * draw.choice(PRICE_CHANGES), 2)
            loose = unit == "kg" and draw.odds(0.4)
            quantity = draw.choice((0.5, 1.5)) if loose else 1.0 + draw.randrange(6)
            made.append((order[0], line, number, quantity, price, draw.choice(DISCOUNTS)))
    return made


def _deliveries(draw: Draw, orders: list[Row]) -> list[Row]:
    made: list[Row] = []
    for number, _, at, status, _ in orders:
        if status not in DELIVERED:
            continue
        day = draw.day(date.fromisoformat(str(at)[:10]) + timedelta(days=1), 5)
        rating = None if draw.odds(0.35) else 5 - draw.low(5)
        made.append((number, draw.choice(COURIERS), f"{day:%d.%m.%Y}", rating))
    return made


def _stock(draw: Draw, products: list[Row]) -> list[Row]:
    made: list[Row] = []
    for product in products:
        for warehouse in WAREHOUSES:
            if draw.odds(0.7):
                quantity = None if draw.odds(0.06) else 0 if draw.odds(0.15) else 4 + draw.randrange(96)
                made.append((product[0], warehouse, quantity))
    return made
