"""What an episode works with; put together once for a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from core.database.files import DatabaseFolder
from core.database.samples import read_samples
from core.database.sandbox import Sandbox
from core.database.schema import Schema, read_schema
from core.database.schema_text import schema_text
from core.feedback.verdict import Regime
from core.models.chat import Answer, ChatModel, ModelDescription
from core.models.retry import RetryPolicy
from core.prompts.layout import Layout, Prompts
from core.question import Question
from core.repair.experience import Experience
from core.repair.hints.values import sampled_values
from core.repair.strategy import Strategy
from core.run.control import Control
from core.run.events import RunSettings
from core.run.jobs import Jobs
from core.run.stamp import Stamp
from core.selection.drafting import Drafter


class Predictions(Protocol):
    """Where shared answers are found; they are stored from AnswerWritten events."""

    def prediction(self, key: str) -> Answer | None:
        """The answer that an earlier run got with the same model, prompt and sampling, or None."""
        ...


class NoPredictions:
    """Nothing is shared: every answer is made anew."""

    def prediction(self, key: str) -> Answer | None:
        """Always None."""
        return None


@dataclass
class Equipment:
    """The parts of one run that its episodes use."""

    settings: RunSettings
    strategy: Strategy
    model: ChatModel
    described: ModelDescription
    sandbox: Sandbox
    folder: DatabaseFolder
    regime: Regime
    prompts: Prompts
    experience: Experience
    control: Control
    stamp: Stamp
    predictions: Predictions = field(default_factory=NoPredictions)
    shares_repairs: bool = False
    """Whether the answers of repairs are shared, as the initial ones are: the runs of an experiment
    that ask the same with the same seed get the same, and differ by what they do alone."""
    drafter: Drafter | None = None
    """Draws candidates for the first SQL and chooses among them; None: there is the greedy answer
    alone."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    jobs: Jobs = field(default_factory=Jobs)
    schema_tokens: int = 8000
    """Room for the schema in a prompt; a larger schema loses what is least related."""
    _schemas: dict[str, Schema] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _values: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        """How repair prompts are ordered."""
        return "conversation" if self.settings.layout == "conversation" else "paper"

    def schema(self, database: str) -> Schema:
        """The schema of a database, read once a run. Raises MeritoError where it cannot be read."""
        if database not in self._schemas:
            self._schemas[database] = read_schema(self.folder.path(database))
        return self._schemas[database]

    def schema_text(self, question: Question) -> str:
        """The schema as prompts show it: the same text for every question about a database, so that
        the engine's cache serves it, unless the schema is too large to be shown whole."""
        if question.database in self._texts:
            return self._texts[question.database]
        shown = schema_text(
            self.schema(question.database), question=question.text, budget=self.schema_tokens
        )
        if not shown.left_out:
            self._texts[question.database] = shown.text
        return shown.text

    def values(self, database: str) -> tuple[str, ...]:
        """Some stored values of each column of text, a line a column, read once a run."""
        if database not in self._values:
            schema, path = self.schema(database), self.folder.path(database)
            self._values[database] = sampled_values(schema, read_samples(path, schema))
        return self._values[database]
