"""Statistics: what is random is seeded, what is paired stays paired, what is exact is exact."""

from __future__ import annotations

import math
import random
import statistics as reference

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.experiments.statistics import (
    agreement,
    clustered_difference,
    mcnemar,
    paired_difference,
    spread,
)

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
OUTCOMES = st.tuples(st.booleans(), st.booleans()).map(lambda pair: (float(pair[0]), float(pair[1])))
CLUSTERS = st.dictionaries(
    st.text(min_size=1, max_size=4), st.lists(OUTCOMES, max_size=3), min_size=1, max_size=12
)


@given(VALUES)
def test_spread_is_the_mean_and_the_sample_deviation(values: list[float]) -> None:
    found = spread(values)
    assert found is not None
    assert found.n == len(values)
    assert found.mean == pytest.approx(reference.fmean(values), rel=1e-9, abs=1e-6)
    if len(values) == 1:
        assert found.deviation is None
    else:
        assert found.deviation == pytest.approx(reference.stdev(values), rel=1e-6, abs=1e-6)


def test_there_is_no_spread_of_nothing() -> None:
    assert spread([]) is None


@settings(max_examples=60, deadline=None)
@given(CLUSTERS, st.integers(0, 5))
def test_a_difference_is_the_mean_over_all_pairs_inside_its_own_bounds(
    pairs: dict[str, list[tuple[float, float]]], seed: int
) -> None:
    found = clustered_difference(pairs, seed=seed, draws=200)
    every = [a - b for outcomes in pairs.values() for a, b in outcomes]
    if not every:
        assert found is None
        return
    assert found is not None
    assert found.difference == pytest.approx(math.fsum(every) / len(every))
    assert min(every) - 1e-9 <= found.low <= found.high <= max(every) + 1e-9
    assert found.outcomes == len(every)
    assert found.clusters == sum(1 for outcomes in pairs.values() if outcomes)


@settings(max_examples=40, deadline=None)
@given(CLUSTERS, st.randoms())
def test_the_sequence_of_questions_changes_nothing(
    pairs: dict[str, list[tuple[float, float]]], rng: random.Random
) -> None:
    names = list(pairs)
    rng.shuffle(names)
    assert clustered_difference({name: pairs[name] for name in names}, draws=100) == (
        clustered_difference(pairs, draws=100)
    )


@settings(max_examples=40, deadline=None)
@given(CLUSTERS)
def test_the_other_way_round_is_the_negative(pairs: dict[str, list[tuple[float, float]]]) -> None:
    there = clustered_difference(pairs, draws=200)
    turned = {name: [(b, a) for a, b in outcomes] for name, outcomes in pairs.items()}
    back = clustered_difference(turned, draws=200)
    if there is None:
        assert back is None
        return
    assert back is not None
    assert back.difference == pytest.approx(-there.difference, abs=1e-12)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-12)


def test_outcomes_of_one_question_stay_together() -> None:
    """Three equal outcomes of a question tell no more than one: counted as independent they would
    make the interval narrower by the root of three."""
    rng = random.Random(3)
    single = {f"q{n}": [(float(rng.random() < 0.6), float(rng.random() < 0.4))] for n in range(80)}
    tripled = {name: outcomes * 3 for name, outcomes in single.items()}
    one, three = clustered_difference(single, draws=500), clustered_difference(tripled, draws=500)
    assert one is not None
    assert three is not None
    assert (three.low, three.high) == pytest.approx((one.low, one.high))
    assert (one.outcomes, three.outcomes) == (80, 240)


def test_another_seed_draws_otherwise_and_the_same_seed_the_same() -> None:
    rng = random.Random(1)
    first, second = ([rng.random() for _ in range(50)] for _ in range(2))
    assert paired_difference(first, second, seed=1) == paired_difference(first, second, seed=1)
    assert paired_difference(first, second, seed=1) != paired_difference(first, second, seed=2)


def test_unequal_lengths_are_no_pairs() -> None:
    with pytest.raises(ValueError):
        paired_difference([1.0], [1.0, 0.0])


@pytest.mark.slow
def test_the_interval_covers_a_known_difference_as_often_as_it_says() -> None:
    """300 simulated studies of 120 questions in 3 orders, outcomes within a question dependent: a
    95 % interval holds the true difference in 95 % of them, give or take the simulation's noise
    (standard error 1.3 points)."""
    rng = random.Random(20)
    held, studies = 0, 300
    for study in range(studies):
        pairs = {}
        for number in range(120):
            ease = rng.random()
            first, second = (min(1.0, ease + 0.1), ease)
            stable = rng.random() < 0.7
            common = rng.random()
            pairs[f"q{number}"] = [
                (float((common if stable else rng.random()) < first), float(rng.random() < second))
                for _ in range(3)
            ]
        found = clustered_difference(pairs, seed=study, draws=1000)
        assert found is not None
        held += found.low <= TRUE_DIFFERENCE <= found.high
    assert 0.91 <= held / studies <= 0.985


TRUE_DIFFERENCE = 0.1 - 0.1**2 / 2
"""E[min(1, u + 0.1)] - E[u] for a uniform u."""


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_mcnemar_is_scipys_exact_binomial_test(first: int, second: int, both: int) -> None:
    from scipy.stats import binomtest

    pairs = [(True, False)] * first + [(False, True)] * second + [(True, True)] * both
    found = mcnemar(pairs)
    assert (found.first_only, found.second_only) == (first, second)
    expected = binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert found.p == pytest.approx(expected, rel=1e-9)


def test_mcnemar_keeps_very_small_probabilities() -> None:
    assert 0 < mcnemar([(True, False)] * 900).p == pytest.approx(2.0**-899, rel=1e-12)


LABELLED = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1)


@given(LABELLED)
def test_agreement_follows_the_definition_of_f1(pairs: list[tuple[str, str]]) -> None:
    found = agreement(pairs)
    assert found is not None
    scores = []
    for name in sorted({name for pair in pairs for name in pair}):
        hits = sum(label == prediction == name for label, prediction in pairs)
        predicted = sum(prediction == name for _, prediction in pairs)
        labelled = sum(label == name for label, _ in pairs)
        precision = hits / predicted if predicted else 0.0
        recall = hits / labelled if labelled else 0.0
        scores.append(2 * precision * recall / (precision + recall) if hits else 0.0)
    assert found.macro_f1 == pytest.approx(sum(scores) / len(scores))
    assert found.accuracy == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert found.n == len(pairs)


def test_perfect_agreement_is_one_and_there_is_none_of_nothing() -> None:
    found = agreement([("a", "a"), ("b", "b")])
    assert found is not None
    assert (found.accuracy, found.macro_f1) == (1.0, 1.0)
    assert agreement([]) is None
