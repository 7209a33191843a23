"""What MERIT's authors measured with Qwen2.5-7B-Instruct, K = 7, three orders (MERIT, section 5):
shown beside the figures of a run, never mixed with them."""

from __future__ import annotations

import msgspec

ABOUT = "Qwen2.5-7B-Instruct, K = 7, full dev sets (1,034 / 1,534 questions), 3 orders, test suites"


QUESTIONS = {"spider": 1034, "bird": 1534}
"""Questions of the dev sets that were asked."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """One strategy on one benchmark."""

    accuracy: float
    """Percent."""
    repaired: float
    """Questions, mean over the orders."""
    steps: float
    """Repairs for each initial failure."""
    oscillation: float
    """Percent."""
    tokens: float
    """Millions, prompt and output."""
    calls: int


def _row(
    accuracy: float, repaired: float, steps: float, again: float, tokens: float, calls: int
) -> Published:
    return Published(
        accuracy=accuracy, repaired=repaired, steps=steps, oscillation=again, tokens=tokens, calls=calls
    )


INITIAL = {"spider": 58.90, "bird": 38.40}
"""Accuracy of the initial predictions, percent."""

STRATEGIES: dict[tuple[str, str], Published] = {
    ("spider", "iterative"): _row(66.34, 77.0, 6.08, 35.7, 2.529, 3619),
    ("spider", "reflexion"): _row(68.38, 98.0, 5.82, 32.7, 6.597, 6309),
    ("spider", "dynamic-rag"): _row(69.79, 112.7, 5.63, 32.2, 5.275, 3427),
    ("spider", "merit"): _row(69.79, 112.7, 5.61, 32.0, 5.274, 3419),
    ("bird", "iterative"): _row(47.35, 137.3, 6.24, 54.5, 9.325, 7429),
    ("bird", "reflexion"): _row(51.24, 197.0, 5.97, 51.8, 22.407, 13568),
    ("bird", "dynamic-rag"): _row(48.15, 149.7, 6.17, 53.9, 18.012, 7366),
    ("bird", "merit"): _row(48.44, 154.0, 6.13, 53.1, 17.569, 7325),
}

_DIFFERENCES: dict[tuple[str, str, str], tuple[float, ...]] = {
    ("spider", "merit", "iterative"): (3.45, 1.97, 4.96),
    ("bird", "merit", "iterative"): (1.09, 0.0, 2.17),
    ("spider", "merit", "reflexion"): (1.42, -0.19, 3.03),
    ("bird", "merit", "reflexion"): (-2.8, -4.15, -1.46),
    ("spider", "merit", "merit-reliability"): (0.39, -0.23, 1.03),
    ("bird", "merit", "merit-reliability"): (-0.2, -0.67, 0.28),
    ("spider", "merit-no-negative", "merit"): (-0.13,),
    ("bird", "merit-no-negative", "merit"): (-0.09,),
    ("spider", "merit-no-type", "merit"): (-0.58,),
    ("bird", "merit-no-type", "merit"): (0.13,),
    ("spider", "merit-random-same-type", "merit"): (-0.09,),
    ("bird", "merit-random-same-type", "merit"): (-0.05,),
    ("spider", "merit-no-dense", "merit"): (-1.12,),
    ("bird", "merit-no-dense", "merit"): (0.13,),
    ("spider", "merit-no-bm25", "merit"): (0.58,),
    ("bird", "merit-no-bm25", "merit"): (-0.4,),
    ("spider", "merit-other-databases", "merit"): (-0.93,),
    ("bird", "merit-other-databases", "merit"): (-2.74,),
}
"""(benchmark, first, second) -> first minus second in points, and the ends of its interval where they
are given."""


def difference(benchmark: str, first: str, second: str) -> str:
    """First minus second in points, whichever way it was printed; empty where it was not."""
    found = _DIFFERENCES.get((benchmark, first, second))
    if found is None:
        turned = _DIFFERENCES.get((benchmark, second, first), ())
        # The ends of the interval change places. From 0.0, so that no zero is negative.
        found = tuple(0.0 - turned[place] for place in (0, 2, 1) if place < len(turned))
    ends = f" [{found[1]:.2f}, {found[2]:.2f}]" if len(found) > 1 else ""
    return f"{found[0]:+.2f}{ends}" if found else ""


CLASSIFIER = {
    "spider": "accuracy about 48 %, macro-F1 0.317",
    "bird": "accuracy about 48 %, macro-F1 0.355",
}
MISMATCH_SHARE = {"spider": 84.7}
"""Percent of the initial failures that are result mismatches."""
