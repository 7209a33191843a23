"""Specification memories: what a correct query had to get right (MAP-SQL, table 1).

A memory has only the keys whose construct occurs in the gold SQL; which those are is read from its
syntax tree, so an answer of the model can be checked, and constrained, for each pair by itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import msgspec

from core.memory.entry import Provenance
from core.question import source_key

ResultShape = Literal["single_value", "single_row", "multiple_rows"]
Format = Literal["number", "year", "text", "id", "boolean", "percentage", "custom"]
NullConstruct = Literal["CASE", "IIF", "COALESCE", "IFNULL", "NULLIF"]
_SPARE = 1
"""How many entries a constrained list may have beyond the syntax tree's. A small model that may go on
names every column of the database."""
_Some = Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=40)]
_Texts = Annotated[tuple[str, ...], msgspec.Meta(max_length=40)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One key's value."""


class SchemaGrounding(_Part, frozen=True):
    """Encoding: phrases of the question and what they mean in the schema."""

    mappings: _Some
    """Each "phrase -> table.column"."""


class JoinPath(_Part, frozen=True):
    """Encoding: how tables were joined."""

    paths: _Some
    """Each "table --(key)--> table"."""
    join_types: _Texts = ()


class FilterSemantics(_Part, frozen=True):
    """Encoding: conditions on rows."""

    conditions: _Some


class Aggregation(_Part, frozen=True):
    """Translating: groups and aggregates."""

    group_by_columns: _Texts = ()
    aggregate_functions: _Texts = ()
    having_condition: str = ""
    distinct_within_aggregate: bool = False


class OrderingAndScope(_Part, frozen=True):
    """Translating: order and number of rows."""

    order_by: _Texts = ()
    limit: str = ""
    offset: str = ""


class ConditionalAndNull(_Part, frozen=True):
    """Translating: branches and values in place of NULL."""

    construct: NullConstruct
    usage: str = ""


class OutputForm(_Part, frozen=True, omit_defaults=False):
    """Decoding: what comes back."""

    result_shape: ResultShape
    return_columns: _Some
    distinct: bool = False
    format: Format = "custom"


class QueryConstraints(_Part, frozen=True):
    """Decoding: what must not happen without need. Only flags that hold are written."""

    avoid_unnecessary_distinct: bool = False
    avoid_extra_join: bool = False
    avoid_wrong_aggregation_column: bool = False
    avoid_extra_filter: bool = False
    prefer_schema_defined_columns: bool = False


class ExtraKeyword(_Part, frozen=True):
    """Decoding: a construct that no other key covers."""

    keyword: str
    usage: Annotated[str, msgspec.Meta(min_length=1)]
    """One sentence."""


class Specification(_Part, frozen=True):
    """The flat object of one memory; a key that is None does not occur."""

    schema_grounding: SchemaGrounding | None = None
    join_path: JoinPath | None = None
    filter_semantics: FilterSemantics | None = None
    aggregation: Aggregation | None = None
    ordering_and_scope: OrderingAndScope | None = None
    conditional_and_null: ConditionalAndNull | None = None
    output_form: OutputForm | None = None
    query_constraints: QueryConstraints | None = None
    extra_keywords: tuple[ExtraKeyword, ...] = ()

    @property
    def text(self) -> str:
        """As prompts show it: compact JSON, `extra_keywords` always there."""
        fields = msgspec.to_builtins(self)
        fields.setdefault("extra_keywords", [])
        return msgspec.json.encode(fields).decode()


PARTS: dict[str, type[_Part]] = {
    "schema_grounding": SchemaGrounding,
    "join_path": JoinPath,
    "filter_semantics": FilterSemantics,
    "aggregation": Aggregation,
    "ordering_and_scope": OrderingAndScope,
    "conditional_and_null": ConditionalAndNull,
    "output_form": OutputForm,
    "query_constraints": QueryConstraints,
}
"""Every key that may be absent, with the type of its value."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """The confirmed repair that a specification comes from."""

    memory: str
    """Id of the memory entry that holds it."""
    provenance: Provenance


class SpecificationMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A specification and the training pair it was made from."""

    id: str
    database: str
    question: str
    specification: Specification
    maker: str = ""
    """Fingerprint of the model that wrote it."""
    rebuilt: bool = False
    """The model's answers did not hold, so it was made from the syntax tree alone."""
    repair: Repair | None = None
    """None where the pair comes from a training file."""

    @property
    def source_key(self) -> str:
        """Identifies the question: its own memory is never shown to it."""
        return source_key(self.database, self.question)


def memory_id(database: str, question: str, gold: str) -> str:
    """The id of the memory of a training pair: 24 hex digits. The same pair has one memory."""
    pair = msgspec.json.encode([database.casefold(), question, gold])
    return hashlib.sha256(pair).hexdigest()[:24]


class Invalid(Exception):
    """An answer is no specification of its pair; the text says why."""


def read_specification(answer: str, keys: Sequence[str], constructs: Sequence[str]) -> Specification:
    """The specification in a model's answer, which must have exactly the keys and explain exactly
    the constructs. Raises Invalid."""
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start:
        raise Invalid("there is no JSON object")
    try:
        fields = msgspec.json.decode(answer[start : end + 1].encode("utf-8", "replace"))
        found = msgspec.convert(fields, Specification, strict=False)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Invalid(str(error)) from None
    present = {key for key in PARTS if getattr(found, key) is not None}
    if present != set(keys):
        missing, extra = sorted(set(keys) - present), sorted(present - set(keys))
        raise Invalid(f"keys missing: {missing}, keys too many: {extra}")
    explained = sorted(each.keyword.upper() for each in found.extra_keywords)
    if explained != sorted(constructs):
        raise Invalid(f"constructs explained: {explained}, found: {sorted(constructs)}")
    return found


def json_schema(expected: Specification, question: str) -> dict[str, Any]:
    """The JSON schema of one pair's specification, for engines that can hold an answer to it: the
    keys, fields and constructs that `expected` has, which is made from the pair's syntax tree. A list
    may be one entry longer than that one's, and a mapping leads from words of the question to a column
    of the query."""
    properties: dict[str, Any] = {
        key: _object(PARTS[key], fields, getattr(expected, key))
        for key, fields in _outline(expected).items()
    }
    if expected.schema_grounding:
        mapping = {"type": "string", "pattern": _mapping(expected.schema_grounding, question)}
        properties["schema_grounding"]["properties"]["mappings"]["items"] = mapping
    constructs = [each.keyword for each in expected.extra_keywords]
    properties["extra_keywords"] = _extra_keywords(constructs) if constructs else {"const": []}
    return {**_closed(properties, list(properties)), "x-guidance": _COMPACT}


_COMPACT = {"whitespace_flexible": False, "key_separator": ": ", "item_separator": ", "}
"""llguidance's own word for JSON on one line: every line break and indent is a token to be written.
Engines that do not know it, llama.cpp's own reader of schemas among them, pass it over."""


def _mapping(expected: SchemaGrounding, question: str) -> str:
    """A pattern for one mapping: words of the question, and a column of the query. Left to itself a
    small model maps columns to columns."""
    words = "|".join(list(dict.fromkeys(_WORD.findall(question)))[:_WORDS]) or "it"
    meant = dict.fromkeys(each.rpartition(" -> ")[2] for each in expected.mappings)
    columns = "|".join(_OPERATOR.sub(r"\\\g<0>", name) for name in meant)
    return f"^({words})( ({words})){{0,{_PHRASE - 1}}} -> ({columns})$"


_WORDS = 100
"""Words of the question to choose from, at most: a grammar grows with each of them."""
_PHRASE = 6
"""Words of a phrase, at most."""
_WORD = re.compile(r"\w+")
_OPERATOR = re.compile(r"[][\\.^$*+?(){}|]")
"""What a regular expression reads as more than itself. llama.cpp's reader of patterns knows a backslash
before these alone."""


def _outline(expected: Specification) -> dict[str, list[str]]:
    """Its keys with the fields that each has; the flags are the model's to choose."""
    there = {key: getattr(expected, key) for key in PARTS if getattr(expected, key) is not None}
    found = {key: list(msgspec.to_builtins(part)) for key, part in there.items()}
    return found | {"query_constraints": []} if "query_constraints" in found else found


def _extra_keywords(constructs: Sequence[str]) -> dict[str, Any]:
    """One entry for each construct, in their order: none twice, and none left out."""
    entries = []
    for name in constructs:
        entry = _object(ExtraKeyword, ExtraKeyword.__struct_fields__)
        entry["properties"]["keyword"] = {"const": name}
        entries.append(entry)
    count = len(constructs)
    return {"type": "array", "prefixItems": entries, "minItems": count, "maxItems": count}


def _object(
    part: type[_Part], required: Collection[str], expected: _Part | None = None
) -> dict[str, Any]:
    """One part's schema with these fields, every one required, so that nothing is left out in
    silence; where none is, all are there to choose from. Lists have room for the `expected` ones."""
    (schema,), definitions = msgspec.json.schema_components([part])
    found: dict[str, Any] = dict(definitions[schema["$ref"].rpartition("/")[2]])
    fields = {
        name: _without_default(field, getattr(expected, name, None))
        for name, field in found["properties"].items()
        if name in required or not required
    }
    return _closed(fields, [name for name in fields if name in required])


def _closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _without_default(field: Mapping[str, Any], expected: object) -> dict[str, Any]:
    kept = {name: value for name, value in field.items() if name != "default"}
    if kept.get("type") == "array":
        there = len(expected) if isinstance(expected, tuple) else 0
        kept["maxItems"] = min(kept["maxItems"], there + _SPARE)
    return kept


_SHAPES = {
    "schema_grounding": '{"mappings": ["phrase of the question -> table.column", ...]}',
    "join_path": '{"paths": ["table --(key)--> table", ...], "join_types": ["INNER", ...]}',
    "filter_semantics": '{"conditions": ["table.column = value", ...]}',
    "aggregation": '{"group_by_columns": [...], "aggregate_functions": ["COUNT(*)", ...], '
    '"having_condition": "...", "distinct_within_aggregate": true or false}',
    "ordering_and_scope": '{"order_by": ["table.column DESC", ...], "limit": "N", "offset": "M"}',
    "conditional_and_null": f'{{"construct": one of {"/".join(get_args(NullConstruct))}, '
    '"usage": "..."}',
    "output_form": f'{{"result_shape": one of {"/".join(get_args(ResultShape))}, "return_columns": '
    f'[...], "distinct": true or false, "format": one of {"/".join(get_args(Format))}}}',
    "query_constraints": '{"avoid_extra_join": true, ...}, those of '
    f"{', '.join(QueryConstraints.__struct_fields__)} that matter here",
    "extra_keywords": '[{"keyword": "...", "usage": "one sentence"}, ...]',
}

FORMS = "\n".join(f'"{key}": {shape}' for key, shape in _SHAPES.items())
"""Every key with the form of its value, as the prompt tells it."""


def asked_keys(expected: Specification) -> str:
    """The keys as the prompt asks for them, with the fields that matter."""
    asked = [
        f"{key} ({', '.join(names)})" if names else key for key, names in _outline(expected).items()
    ]
    extra = "extra_keywords" if expected.extra_keywords else "extra_keywords (which is [] here)"
    return ", ".join([*asked, extra])
