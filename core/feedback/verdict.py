"""The words of feedback: status, failure type, verdict (merit.md, "Feedback")."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

import msgspec

from core.database.rows import Execution
from core.question import Question


class Status(StrEnum):
    """What is observed of an attempt (MERIT, section 3.1)."""

    CORRECT = "CORRECT"
    DENOTATION_MISMATCH = "DENOTATION_MISMATCH"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    TIMEOUT = "TIMEOUT"


class FailureType(StrEnum):
    """The coarse classes of the deterministic classifier (MERIT, appendix C)."""

    RESULT_MISMATCH = "Result Mismatch"
    SCHEMA_LINKING = "Schema Linking"
    AGGREGATION = "Aggregation"
    FILTER_VALUE = "Filter/Value"
    EXECUTION = "Execution"
    SYNTAX = "Syntax"
    UNKNOWN = "Unknown"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A regime's decision about one attempt. It never carries gold SQL or gold rows."""

    status: Status
    message: str = ""
    """The DBMS's own message, where there is one."""
    confirmed: bool = False
    """True where the decider knows: an oracle or a person, not a guess from execution."""
    judge: str = ""
    """Who decided: a regime's name, or the person's."""
    remark: str = ""
    """A person's words about a wrong answer; shown to the model with the next feedback."""
    corrected_sql: str = ""
    """SQL that the person wrote and confirmed instead: the y+ of this attempt."""
    skipped: bool = False
    """The person passed: the episode ends here and teaches nothing."""
    limit_hit: bool = False
    """A sandbox limit decided, so the report counts it apart from wrong."""


class QuestionBroken(Exception):
    """The question cannot be judged (its gold fails); it is left out of every rate."""


class Regime(Protocol):
    """Decides whether an executed attempt answers its question."""

    name: str
    confirms: bool
    """Whether memories learned under this regime start approved."""
    asks: bool
    """Whether a person is asked about every answer that ran."""
    full_rows: bool
    """Whether `judge` needs the complete result instead of the screen's first rows."""

    async def judge(
        self, question: Question, sql: str, execution: Execution, position: int, attempt: int
    ) -> Verdict:
        """Judge one attempt. Raises QuestionBroken where the question itself is at fault."""
        ...
