"""Answers that were given before: for tests and demonstrations, always labelled as such."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Iterable, Sequence

import msgspec

from core.models.call import call_key, estimated_tokens
from core.models.chat import Answer, Delta, Message, ModelDescription, ModelTrouble, Sampling
from core.run.events import AnswerWritten, Event, PromptSent, ReflectionWritten


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a run that was recorded."""

    position: int
    attempt: int
    messages: tuple[Message, ...]
    sampling: Sampling
    answer: Answer


def recorded_calls(events: Iterable[Event]) -> list[RecordedCall]:
    """The calls of a stored run, in its order. Shared answers, which had no call, are left out."""
    calls: list[RecordedCall] = []
    sent: PromptSent | None = None
    for event in events:
        if isinstance(event, PromptSent):
            sent = event
        elif sent and isinstance(event, AnswerWritten | ReflectionWritten):
            calls.append(
                RecordedCall(
                    position=sent.position,
                    attempt=sent.attempt,
                    messages=sent.messages,
                    sampling=sent.sampling,
                    answer=_answer(event),
                )
            )
            sent = None
    return calls


class ReplayModel:
    """Gives the recorded answer to a call, found by its messages and sampling.

    With `in_order` the prompts are not compared: the answers come by position and attempt, one
    after the other, for a replay under templates that have changed. The same call asked again gets
    its answers in the order in which they were given, the last one from then on.
    """

    def __init__(
        self,
        calls: Iterable[RecordedCall],
        *,
        name: str = "recorded",
        context_tokens: int = 1_000_000,
        in_order: bool = False,
    ) -> None:
        self._name = name
        self._context_tokens = context_tokens
        self._answers: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self._in_order = in_order
        for call in sorted(calls, key=lambda call: (call.position, call.attempt)):
            self._answers[self._key(call.messages, call.sampling)].append(call.answer)

    async def describe(self) -> ModelDescription:
        """Labelled as a replay, wherever it is shown or stored."""
        return ModelDescription(engine="replay", name=self._name, context_tokens=self._context_tokens)

    async def count_tokens(self, messages: Sequence[Message]) -> int:
        """A careful estimate: a recording has no tokenizer."""
        return estimated_tokens(messages)

    async def stream(
        self, messages: Sequence[Message], sampling: Sampling
    ) -> AsyncGenerator[Delta | Answer, None]:
        """The recorded answer, at once. Raises ModelTrouble where none is recorded."""
        answers = self._answers.get(self._key(messages, sampling))
        if not answers:
            raise ModelTrouble(
                f"The recording '{self._name}' has no answer to this call.",
                "Replay it with the settings, questions and prompts that it was made with.",
            )
        answer = answers[0] if len(answers) == 1 and not self._in_order else answers.popleft()
        if answer.text:
            yield Delta(answer.text)
        yield answer

    async def close(self) -> None:
        """Nothing is held."""

    def _key(self, messages: Sequence[Message], sampling: Sampling) -> str:
        return "" if self._in_order else call_key(messages, sampling)


def _answer(event: AnswerWritten | ReflectionWritten) -> Answer:
    cut = isinstance(event, AnswerWritten) and event.finish == "length"
    return Answer(
        text=event.text,
        usage=event.usage,
        finish="length" if cut else "stop",
        seconds=event.seconds,
    )
