"""One call of the model, told as events."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from core.models.chat import Answer, Delta, ModelDescription, Sampling
from core.models.retry import Stumble, stream_with_retries
from core.prompts.layout import Prompt
from core.repair.equipment import Equipment
from core.run.events import AnyEvent, ModelStumbled, TokenDelta


async def answer(
    equipment: Equipment, prompt: Prompt, sampling: Sampling, position: int, attempt: int
) -> AsyncGenerator[AnyEvent | Answer, None]:
    """Stream one answer: token deltas and stumbles as events, the finished Answer last.

    Raises ModelTrouble where the engine cannot answer and waiting does not help.
    """
    stamp = equipment.stamp
    pieces = stream_with_retries(equipment.model, prompt.messages, sampling, equipment.retries)
    async with aclosing(pieces):
        async for piece in pieces:
            match piece:
                case Delta(text=text):
                    yield stamp(TokenDelta, position=position, attempt=attempt, text=text)
                case Stumble():
                    yield stamp(
                        ModelStumbled,
                        position=position,
                        attempt=attempt,
                        problem=piece.problem,
                        mend=piece.mend,
                        retry_in=piece.retry_in,
                    )
                case Answer():
                    yield piece


def prediction_key(model: ModelDescription, prompt: Prompt, sampling: Sampling) -> str:
    """Under what an answer is shared: the same model, prompt and sampling."""
    what = msgspec.json.encode([model.fingerprint, prompt.template, prompt.messages, sampling])
    return hashlib.sha256(what).hexdigest()


def draw_seed(run_seed: int, question: str, attempt: int) -> int:
    """The seed of one sampled draft: differs by question and attempt, the same in every run with
    the same seed, whatever the order of the stream."""
    digest = hashlib.sha256(f"{run_seed}\x1f{question}\x1f{attempt}".encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF
