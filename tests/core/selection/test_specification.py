"""A specification has exactly the keys whose construct occurs in its gold query, by whoever made."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from core.database.schema import Column, Schema, Table
from core.models.chat import ConstrainedSampling, Message, ModelTrouble, Sampling
from core.selection.anatomy import Anatomy
from core.selection.building import TRIES, build
from core.selection.calls import Caller
from core.selection.specification import (
    Invalid,
    Specification,
    json_schema,
    memory_id,
    read_specification,
)
from core.selection.training import Training, TrainingPair
from tests.scripted import Script, ScriptedModel


def table(name: str, *columns: str) -> Table:
    return Table(
        name=name,
        columns=tuple(Column(name=column, type="INTEGER") for column in columns),
        sql=f"CREATE TABLE {name} ({', '.join(columns)})",
    )


SCHEMA = Schema(
    database="shop",
    tables=(table("item", "id", "name", "price", "shop_id"), table("shop", "id", "city", "opened")),
)

ALWAYS = {"schema_grounding", "output_form", "query_constraints"}
GOLDS = [
    ("SELECT name FROM item", set(), ()),
    ("SELECT count(*) FROM item", {"aggregation"}, ()),
    ("SELECT name FROM item WHERE price > 3", {"filter_semantics"}, ()),
    (
        "SELECT T1.name FROM item AS T1 JOIN shop AS T2 ON T1.shop_id = T2.id",
        {"join_path"},
        (),
    ),
    ("SELECT name FROM item ORDER BY price DESC LIMIT 1", {"ordering_and_scope"}, ()),
    (
        "SELECT shop_id, avg(price) FROM item GROUP BY shop_id HAVING count(*) > 2",
        {"aggregation"},
        (),
    ),
    ("SELECT IIF(price > 3, 'a', 'b') FROM item", {"conditional_and_null"}, ()),
    ("SELECT ifnull(price, 0) FROM item", {"conditional_and_null"}, ()),
    ("SELECT name FROM item UNION SELECT city FROM shop", set(), ("UNION",)),
    (
        "SELECT name FROM item WHERE price = (SELECT max(price) FROM item)",
        {"filter_semantics", "aggregation"},
        ("SUBQUERY",),
    ),
    ("SELECT strftime('%Y', opened) FROM shop", set(), ("STRFTIME",)),
    ("SELECT CAST(price AS INTEGER) || 'x' FROM item", set(), ("CAST", "||")),
    (
        "WITH t AS (SELECT id FROM item) SELECT count(*) FROM t",
        {"aggregation"},
        ("WITH",),
    ),
    (
        "SELECT name, rank() OVER (ORDER BY price) FROM item",
        {"ordering_and_scope"},
        ("OVER", "RANK"),
    ),
    ("SELECT DISTINCT(name) FROM item", set(), ()),
    ("SELECT COUNT(DISTINCT (name)) FROM item", {"aggregation"}, ()),
]


@pytest.mark.parametrize(("gold", "keys", "constructs"), GOLDS)
def test_keys_and_extra_constructs_are_read_from_the_query(
    gold: str, keys: set[str], constructs: tuple[str, ...]
) -> None:
    anatomy = Anatomy(gold)
    assert set(anatomy.keys) == keys | ALWAYS
    assert anatomy.constructs == constructs


@pytest.mark.parametrize("gold", [gold for gold, _, _ in GOLDS] + ["SELEC nothing (", "", "VALUES (1)"])
def test_the_tree_alone_makes_a_valid_specification(gold: str) -> None:
    anatomy = Anatomy(gold, "Which item?", SCHEMA)
    text = anatomy.rebuilt().text
    assert read_specification(text, anatomy.keys, anatomy.constructs) == anatomy.rebuilt()


def test_what_the_tree_alone_says() -> None:
    gold = (
        "SELECT DISTINCT T2.city FROM item AS T1 JOIN shop AS T2 ON T1.shop_id = T2.id "
        "WHERE T1.price > 3 AND T2.opened = 1990 ORDER BY T2.city LIMIT 5"
    )
    found = json.loads(Anatomy(gold, "In which city are dear items sold?", SCHEMA).rebuilt().text)
    assert "city -> shop.city" in found["schema_grounding"]["mappings"]
    assert found["join_path"] == {"paths": ["item --(shop_id = id)--> shop"], "join_types": ["INNER"]}
    assert found["filter_semantics"]["conditions"] == ["item.price > 3", "shop.opened = 1990"]
    assert found["ordering_and_scope"] == {"order_by": ["shop.city"], "limit": "5"}
    assert found["output_form"]["distinct"] is True
    assert found["output_form"]["return_columns"] == ["shop.city"]
    assert found["extra_keywords"] == []


@pytest.mark.parametrize(
    ("gold", "shape"),
    [
        ("SELECT count(*) FROM item", "single_value"),
        ("SELECT min(price), max(price) FROM item", "single_row"),
        ("SELECT name FROM item LIMIT 1", "single_value"),
        ("SELECT name FROM item", "multiple_rows"),
        ("SELECT count(*) FROM item GROUP BY shop_id", "multiple_rows"),
        ("SELECT count(*) FROM item UNION SELECT count(*) FROM shop", "multiple_rows"),
        ("SELECT count(*) FROM item UNION SELECT count(*) FROM shop LIMIT 1", "single_value"),
        ("SELECT count(*) FROM item EXCEPT SELECT 3", "multiple_rows"),
        ("SELECT sum(price) OVER () FROM item", "multiple_rows"),
        ("SELECT sum(price) FILTER (WHERE id > 3) OVER () FROM item", "multiple_rows"),
        ("SELECT sum(count(*)) OVER () FROM item", "single_value"),
        ("SELECT max(price, 3) FROM item", "multiple_rows"),
        ("SELECT (SELECT max(price) FROM item) FROM shop", "multiple_rows"),
        ("SELECT (SELECT max(price) FROM item) - 3", "single_value"),
        ("SELECT name, max(price) FROM item", "single_row"),
        ("SELECT group_concat(name) FROM item", "single_value"),
        ("SELECT total(price) FROM item", "single_value"),
        ("SELECT CAST(sum(price) AS REAL) / count(*) FROM item", "single_value"),
        ("WITH t AS (SELECT count(*) AS n FROM item) SELECT n FROM t", "multiple_rows"),
    ],
)
def test_the_shape_of_the_result(gold: str, shape: str) -> None:
    output = Anatomy(gold).rebuilt().output_form
    assert output is not None
    assert output.result_shape == shape


GOLD = "SELECT name FROM item WHERE price > 3 UNION SELECT city FROM shop"


def a_specification(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(Anatomy(GOLD, "", SCHEMA).rebuilt())
    return {**found, **changes}


INVALID = [
    ("no object at all", "no JSON object"),
    ("{broken}", "malformed"),
    (json.dumps(a_specification(mood={})), "unknown field"),
    (json.dumps(a_specification(aggregation={"aggregate_functions": []})), "keys too many"),
    (json.dumps(a_specification(extra_keywords=[])), "constructs explained"),
    (json.dumps(a_specification(extra_keywords=[{"keyword": "UNION", "usage": "x"}] * 2)), "explained"),
    (json.dumps(a_specification(filter_semantics={"conditions": []})), "length"),
    ("[" * 5000 + "{" + "[" * 100_000 + "}", "malformed|recursion|maximum"),
]


@pytest.mark.parametrize(("answer", "why"), INVALID)
def test_what_is_not_valid_says_why(answer: str, why: str) -> None:
    anatomy = Anatomy(GOLD)
    with pytest.raises(Invalid, match=f"(?i){why}"):
        read_specification(answer, anatomy.keys, anatomy.constructs)


def test_truth_in_quotes_is_read_and_words_around_the_object_are_passed_over() -> None:
    output = {"result_shape": "multiple_rows", "return_columns": ["item.name"], "distinct": "true"}
    answer = f"Here it is:\n```json\n{json.dumps(a_specification(output_form=output))}\n```"
    anatomy = Anatomy(GOLD)
    found = read_specification(answer, anatomy.keys, anatomy.constructs).output_form
    assert found is not None
    assert found.distinct is True


def test_the_schema_for_engines_asks_for_what_the_query_has_and_no_more() -> None:
    schema = json_schema(Anatomy("SELECT count(*) FROM item UNION SELECT 1").rebuilt(), "How many?")
    wanted = ["schema_grounding", "aggregation", "output_form", "query_constraints", "extra_keywords"]
    assert schema["required"] == wanted
    assert set(schema["properties"]["aggregation"]["properties"]) == {"aggregate_functions"}
    (entry,) = schema["properties"]["extra_keywords"]["prefixItems"]
    assert entry["properties"]["keyword"] == {"const": "UNION"}
    assert schema["properties"]["query_constraints"]["required"] == []
    without = json_schema(Anatomy("SELECT 1").rebuilt(), "One?")
    assert without["properties"]["extra_keywords"] == {"const": []}


def test_the_schema_for_engines_has_room_for_what_the_query_has_and_one_more() -> None:
    def lists(number: int) -> tuple[int, int]:
        columns = ", ".join(f"c{place}" for place in range(number))
        made = json_schema(Anatomy(f"SELECT {columns} FROM item").rebuilt(), "Which?")["properties"]
        return (
            made["schema_grounding"]["properties"]["mappings"]["maxItems"],
            made["output_form"]["properties"]["return_columns"]["maxItems"],
        )

    assert (lists(3), lists(20), lists(90)) == ((4, 4), (21, 21), (40, 40))


MAPPINGS = {
    "price -> item.price": True,
    "the price of -> item.price": True,
    "Größe -> item.`a (b)`": True,
    "is -> item.`a/b-c`": True,
    "price -> item.id": False,
    "price -> itemxprice": False,
    "item.price -> item.price": False,
    "cost -> item.price": False,
    " -> item.price": False,
    "the price of the price of the -> item.price": False,
    "price -> item.price, the -> item.price": False,
}


@pytest.mark.parametrize(("mapping", "allowed"), MAPPINGS.items())
def test_a_mapping_leads_from_words_of_the_question_to_a_column_of_the_query(
    mapping: str, allowed: bool
) -> None:
    gold = "SELECT price, `a (b)`, `a/b-c` FROM item"
    schema = json_schema(Anatomy(gold).rebuilt(), "What is the price of Größe?")
    pattern = schema["properties"]["schema_grounding"]["properties"]["mappings"]["items"]["pattern"]
    assert bool(re.search(pattern, mapping)) == allowed
    assert not set(re.findall(r"\\(.)", pattern)) - set("^$.[]()|{}*+?")


def test_a_long_question_does_not_make_a_pattern_that_engines_refuse() -> None:
    question = " ".join(f"word{number}" for number in range(5_000))
    schema = json_schema(Anatomy("SELECT price FROM item").rebuilt(), question)
    pattern = schema["properties"]["schema_grounding"]["properties"]["mappings"]["items"]["pattern"]
    assert re.search(pattern, "word0 word99 -> item.price")
    assert len(pattern) < 2_000


def test_a_question_without_words_still_has_a_mapping() -> None:
    schema = json_schema(Anatomy("SELECT price FROM item").rebuilt(), "?!")
    pattern = schema["properties"]["schema_grounding"]["properties"]["mappings"]["items"]["pattern"]
    assert re.search(pattern, "it -> item.price")


def training(*golds: str) -> Training:
    pairs = [
        TrainingPair(
            id=memory_id("shop", str(n), gold),
            database="shop",
            question=str(n),
            gold=gold,
            schema=SCHEMA,
        )
        for n, gold in enumerate(golds)
    ]
    return Training(pairs=tuple(pairs))


async def built(script: Script, *golds: str, known: Sequence[str] = ()) -> Any:
    model = ScriptedModel(script)
    caller = Caller(model, await model.describe())
    made = [each async for each in build(training(*golds), caller, known, 2)]
    return made, model


def valid(_messages: Sequence[Message], _sampling: Sampling) -> str:
    return json.dumps(a_specification())


async def test_a_valid_answer_is_the_memory() -> None:
    (made,), model = await built(valid, GOLD)
    assert (made.memory.rebuilt, made.calls, len(model.calls)) == (False, 1, 1)
    assert isinstance(model.calls[0][1], ConstrainedSampling)
    prompt = model.calls[0][0][0].content
    assert "UNION" in prompt
    asked = prompt.partition("exactly these keys: ")[2]
    assert "filter_semantics (conditions)" in asked
    assert "aggregation" not in asked


async def test_an_invalid_answer_is_asked_for_again_with_another_seed() -> None:
    answers = iter(["nothing", json.dumps(a_specification())])
    (made,), model = await built(lambda _m, _s: next(answers), GOLD)
    assert (made.memory.rebuilt, made.calls) == (False, 2)
    first, second = (sampling for _, sampling in model.calls)
    assert (first.temperature, first.seed) != (second.temperature, second.seed)


async def test_what_never_holds_is_rebuilt_from_the_tree_and_marked() -> None:
    (made,), model = await built(lambda _m, _s: "nothing", GOLD)
    assert made.memory.rebuilt
    assert len(model.calls) == TRIES == len(made.rejected)
    assert made.memory.specification == Anatomy(GOLD, "0", SCHEMA).rebuilt()


async def test_a_prompt_that_is_too_long_is_no_end() -> None:
    trouble = ModelTrouble("too long", concerns_prompt=True)
    (made,), _ = await built(lambda _m, _s: trouble, GOLD)
    assert made.memory.rebuilt


async def test_an_engine_that_fails_ends_the_building() -> None:
    with pytest.raises(ModelTrouble):
        await built(lambda _m, _s: ModelTrouble("gone"), GOLD)


async def test_what_is_known_is_not_made_again() -> None:
    pairs = training(GOLD, "SELECT 1").pairs
    made, _ = await built(lambda _m, _s: "nothing", GOLD, "SELECT 1", known=[pairs[0].id])
    assert [each.memory.id for each in made] == [pairs[1].id]


def test_an_empty_specification_still_lists_extra_keywords() -> None:
    assert json.loads(Specification().text) == {"extra_keywords": []}
