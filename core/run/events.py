"""Events: the one language between a run, the store and every face.

They are yielded in the order in which they happen. What is not an event did not happen: no face
computes a figure that the stored events cannot reproduce. `TokenDelta` alone is never stored.

Order within one episode:
    EpisodeStarted
    for attempt 0 (the initial SQL), then 1..K (repairs):
        [MemoriesRetrieved]  [PromptSent  TokenDelta*  AnswerWritten]
        [CandidateDrawn*  SelectorAnswered*  CandidatesSelected]
                                                   <- attempt 0 alone; each candidate is committed as
                                                      it comes, what the selector did together
        [SqlExecuted]
        AttemptJudged                              <- closes the attempt: committed together
        (where a person is asked, JudgementAwaited comes before it and is committed with all that
        led to it; events of other episodes may follow until the person has judged)
        [ReflectionWritten]                        <- Reflexion only, with its own commit
    EpisodeEnded                                   <- carries the memory entry, if any
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import msgspec

from core.database.rows import ResultTable
from core.feedback.verdict import FailureType, Status
from core.memory.entry import MemoryEntry, Retrieval, ReviewDecision
from core.models.chat import Message, ModelDescription, Sampling, Usage
from core.question import LeftOut, Question
from core.selection.grouped import Candidates
from core.selection.selection import Selection


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """What every event carries: its run, its place in it, and its time."""

    run: str
    seq: int
    """1, 2, 3, ... within the run, without a gap. 0 on a TokenDelta, which is never stored."""
    at: float
    """Seconds since the epoch."""


class Drafting(msgspec.Struct, frozen=True, kw_only=True):
    """How candidates for a question's first SQL are drawn, and how one of them is chosen."""

    candidates: int = 8
    """n, the greedy one among them."""
    method: str = "map-sql"
    permutations: int = 4
    memory_tokens: int | None = None
    """Tokens of specification memories in a prompt; None for all that the context leaves."""
    temperature: float = 0.8
    top_p: float = 0.95
    takes: bool = True
    """The choice is the first SQL; else that is the greedy candidate, and the choice only judges."""


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides what a run does; two runs with equal settings do the same."""

    dataset: str
    """Where the stream came from, as the user named it."""
    root: str = ""
    """Folder that holds the databases."""
    strategy: str
    strategy_fields: dict[str, Any] = {}
    """The strategy's row, spelled out: a later change of the table does not change this run."""
    regime: str = "denotation"
    protocol: str = "spider"
    """Whose rule decides equality: spider or bird."""
    budget: int = 7
    """K, the most repairs of one question."""
    layout: str = "paper"
    """paper or conversation."""
    memory: str = "fresh"
    """fresh, or library: approved entries of earlier runs may be retrieved too."""
    include_pending: bool = False
    order_seed: int | None = None
    """None keeps the file's order."""
    seed: int = 0
    limit: int | None = None
    deadline: float = 30.0
    """Seconds that one statement may run."""
    prompts: str = ""
    """Folder with the user's own templates; empty for the built-in ones."""
    model: str = ""
    """The model as the user asked for it; empty means chosen automatically."""
    review: Literal["all"] | msgspec.UnsetType = msgspec.UNSET
    """all: what a person or an oracle has confirmed waits for a review too. Unset, and not stored:
    only what nobody has confirmed does."""

    drafting: Drafting | msgspec.UnsetType = msgspec.UNSET
    """Unset, and not stored: the first SQL is the greedy answer."""

    loop: int | msgspec.UnsetType = msgspec.UNSET
    """Version of the repair loop (`core.repair.version`). Unset: from before it was kept."""

    @property
    def holds(self) -> bool:
        """Whether confirmed entries wait for a review."""
        return self.review == "all"


class RunStarted(Event, tag="run_started", frozen=True, kw_only=True):
    """The first event of a run."""

    settings: RunSettings
    model: ModelDescription
    questions: tuple[Question, ...]
    problems: tuple[str, ...] = ()
    """What the data set's loader had to leave out, one line for each reason."""
    left_out: tuple[LeftOut, ...] = ()
    """The same, question by question."""
    jobs: int = 0
    """Questions under way at once, in all runs that share the engine; 0 where nobody said."""
    versions: dict[str, str] = {}
    """merito, sqlite, python, encoder, prompts."""


class RunResumed(Event, tag="run_resumed", frozen=True, kw_only=True):
    """The run goes on after an interruption."""

    finished: int
    """Episodes that were final already."""
    jobs: int = 0
    """As in RunStarted; it may be another number now."""


class ReviewsApplied(Event, tag="reviews_applied", frozen=True, kw_only=True):
    """Review decisions that count from the next episode on."""

    position: int
    decisions: tuple[ReviewDecision, ...]


class EpisodeStarted(Event, tag="episode_started", frozen=True, kw_only=True, omit_defaults=True):
    """A question's turn has come, and what it may recall is fixed: every entry that an episode of a
    lower position has taught by now, in the review state that it has now."""

    position: int
    question: Question
    overlapping: tuple[int, ...] = ()
    """Positions whose episodes had begun and were not final yet (a person had not judged them): what
    they teach comes too late for this one."""


class MemoriesRetrieved(Event, tag="memories_retrieved", frozen=True, kw_only=True):
    """What memory offers for the next attempt, and why."""

    position: int
    attempt: int
    retrieval: Retrieval
    entries: tuple[MemoryEntry, ...]
    """The entries that went into the prompt, in the prompt's order, so that a replay needs no
    library."""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """A fact worked out from schema, message and database alone, never from gold."""

    kind: str
    """unknown-column, unknown-table, ambiguous-column, join-path, empty-result, value, ..."""
    text: str
    attempt: int
    """The failed attempt that it was worked out from."""


class PromptSent(Event, tag="prompt_sent", frozen=True, kw_only=True):
    """One call of the model begins."""

    position: int
    attempt: int
    purpose: str
    """initial, repair, fresh, reflection."""
    template: str
    """Version id of the template."""
    messages: tuple[Message, ...]
    sampling: Sampling
    hints: tuple[Hint, ...] = ()


class TokenDelta(Event, tag="token_delta", frozen=True, kw_only=True):
    """A piece of the answer. Shown while it arrives, never stored."""

    position: int
    attempt: int
    text: str


class AnswerWritten(Event, tag="answer_written", frozen=True, kw_only=True):
    """The call is over."""

    position: int
    attempt: int
    text: str
    sql: str
    """What extraction found; empty where there was none."""
    extraction: tuple[str, ...] = ()
    """What had to be done to find it, one word or phrase each."""
    usage: Usage
    seconds: float
    finish: str = "stop"
    reused: bool = False
    """The answer was made earlier and shared: by another run, or another draft with the same prompt."""
    prediction_key: str = ""
    """Under which a later run with the same model, prompt and sampling finds this answer; initial
    predictions have one, and repairs where the runs of an experiment share them."""


class CandidateDrawn(Event, tag="candidate_drawn", frozen=True, kw_only=True):
    """A further candidate for the first SQL was sampled, to the prompt that was sent last."""

    position: int
    attempt: int
    number: int
    """1, 2, ...; the greedy answer is 0."""
    sampling: Sampling
    text: str
    sql: str
    usage: Usage
    seconds: float
    finish: str = "stop"


class SelectorAnswered(Event, tag="selector_answered", frozen=True, kw_only=True):
    """The selector answered one question about the candidates. Told with the choice that it led to,
    which counts it; here each call has its own cost."""

    position: int
    attempt: int
    template: str
    """What was asked: select-list, select-score, select-verdict or select-choice."""
    usage: Usage
    seconds: float
    finish: str = "stop"


class CandidatesSelected(Event, tag="candidates_selected", frozen=True, kw_only=True):
    """The candidates were executed and grouped, and one was chosen."""

    position: int
    attempt: int
    candidates: Candidates
    """In the order of their numbers. Whether one is right is nowhere in it."""
    selection: Selection
    agreed: str = ""
    """The SQL whose result the candidates agree on; empty where they do not."""


class SqlExecuted(Event, tag="sql_executed", frozen=True, kw_only=True):
    """The sandbox ran the SQL."""

    position: int
    attempt: int
    sql: str
    result: ResultTable
    mended: str = ""
    """What a rule changed in the attempt before; empty where the SQL is a model's or a person's."""


class JudgementAwaited(Event, tag="judgement_awaited", frozen=True, kw_only=True):
    """A person is asked."""

    position: int
    attempt: int


class AttemptJudged(Event, tag="attempt_judged", frozen=True, kw_only=True):
    """The attempt is over."""

    position: int
    attempt: int
    sql: str
    status: Status
    message: str = ""
    failure: FailureType | None = None
    """None where the answer is correct."""
    rule: str = ""
    """The classifier's rule that fired."""
    confirmed: bool = False
    judge: str = ""
    remark: str = ""
    repeats: int | None = None
    """The earlier attempt with the same normalised SQL (oscillation); it was not run again."""
    refused: str = ""
    """Why the attempt was not put before the judge, where it was not."""
    correction: str = ""
    """SQL that the person wrote instead: it becomes the next attempt, and is right."""
    skipped: bool = False
    """The person passed: the episode ends here and teaches nothing."""
    limit_hit: bool = False


class ReflectionWritten(Event, tag="reflection_written", frozen=True, kw_only=True):
    """A verbal reflection on the failed attempts so far (Reflexion baseline)."""

    position: int
    attempt: int
    text: str
    usage: Usage
    seconds: float


class ModelStumbled(Event, tag="model_stumbled", frozen=True, kw_only=True):
    """The engine failed; the run waits and tries again, or pauses."""

    position: int
    attempt: int
    problem: str
    mend: str
    retry_in: float | None
    """Seconds until the next try; None where the run paused."""


class EpisodeOutcome(StrEnum):
    """How an episode ended."""

    RIGHT_AT_ONCE = "right at once"
    REPAIRED = "repaired"
    CORRECTED = "corrected by a person"
    """The person wrote the right SQL themselves: it teaches, but no repair is claimed."""
    FAILED = "failed"
    SKIPPED = "skipped"
    BROKEN = "broken question"


class EpisodeEnded(Event, tag="episode_ended", frozen=True, kw_only=True):
    """The episode is final, and taught at most one entry."""

    position: int
    outcome: EpisodeOutcome
    attempts: int
    """Repairs made: 0 where the initial SQL was right."""
    memory: MemoryEntry | None = None
    note: str = ""
    """Why, where the outcome needs a word."""
    seconds: float = 0.0


class RunEnded(Event, tag="run_ended", frozen=True, kw_only=True):
    """The last event of a session of the run; a stopped run may be resumed after it."""

    reason: str
    """finished, stopped, the model failed, the encoder failed."""


AnyEvent = (
    RunStarted
    | RunResumed
    | ReviewsApplied
    | EpisodeStarted
    | MemoriesRetrieved
    | PromptSent
    | TokenDelta
    | AnswerWritten
    | CandidateDrawn
    | SelectorAnswered
    | CandidatesSelected
    | SqlExecuted
    | JudgementAwaited
    | AttemptJudged
    | ReflectionWritten
    | ModelStumbled
    | EpisodeEnded
    | RunEnded
)

CLOSING = (
    RunStarted,
    RunResumed,
    ReviewsApplied,
    CandidateDrawn,
    CandidatesSelected,
    JudgementAwaited,
    AttemptJudged,
    ReflectionWritten,
    EpisodeEnded,
    RunEnded,
)
"""Events that close a batch: everything since the last of these is committed with it."""

_decoder = msgspec.json.Decoder(AnyEvent)
_encoder = msgspec.json.Encoder()


def to_json(event: Event) -> bytes:
    """One event as one line of JSON, without the line break. JSON has no place for a lone
    surrogate: it becomes U+FFFD."""
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        return _encoder.encode(_without_surrogates(msgspec.to_builtins(event)))


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value


def from_json(line: bytes | str) -> AnyEvent:
    """The event that `to_json` wrote. Raises msgspec.ValidationError on anything else."""
    return _decoder.decode(line)
