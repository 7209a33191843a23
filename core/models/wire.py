"""HTTP as the engines use it: the client's settings, and every failure in words."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import Any, TypedDict

import httpx

from core.errors import UsageMistake
from core.models.call import Deadlines, one_line, sound
from core.models.chat import Message, ModelTrouble, Sampling, WeighedSampling


class ClientSettings(TypedDict):
    """Keyword arguments of an httpx client."""

    timeout: httpx.Timeout
    trust_env: bool
    verify: bool


def client_settings(address: str, deadlines: Deadlines) -> ClientSettings:
    """How to talk to `address`: streams are timed by `call.paced`, so reading alone has no limit;
    no proxy of the environment stands before a server of this machine."""
    return ClientSettings(
        timeout=httpx.Timeout(None, connect=deadlines.connect, write=deadlines.control),
        trust_env=not is_loopback(address),
        verify=address.startswith("https:"),
    )


def is_loopback(address: str) -> bool:
    """Whether an address, with or without its scheme, is this machine's own. Raises MeritoError."""
    try:
        host = httpx.URL(address if "://" in address else f"http://{address}").host
    except httpx.InvalidURL as error:
        raise UsageMistake(
            f"'{one_line(address)}' is no address of a server ({error}).",
            "Say for example http://127.0.0.1:11434.",
        ) from error
    try:
        own = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return own.is_loopback or own.is_unspecified


def plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The chat as both protocols want it."""
    return [{"role": message.role, "content": sound(message.content)} for message in messages]


def asked_probabilities(sampling: Sampling) -> dict[str, Any]:
    """What asks for probabilities in both protocols, where they are wanted. Servers that know nothing
    of it pass it over (Ollama before 0.12.11) or refuse it."""
    if not isinstance(sampling, WeighedSampling):
        return {}
    return {"logprobs": True, "top_logprobs": sampling.alternatives}


def unreachable(who: str, error: httpx.HTTPError, deadlines: Deadlines) -> ModelTrouble:
    """A connection that could not be made, or broke."""
    ways: dict[type[httpx.HTTPError], str] = {
        httpx.ConnectError: "cannot be reached",
        httpx.ConnectTimeout: f"did not take the connection in {deadlines.connect:g} s",
        httpx.ReadTimeout: f"did not answer in {deadlines.control:g} s",
    }
    how = ways.get(type(error), f"broke the connection ({str(error) or type(error).__name__})")
    return ModelTrouble(f"{who} {how}.", "Check that it runs.", passing=True)


_MENDS = {
    401: "Give the server's key.",
    403: "Give the server's key.",
    404: "Check the address and the model's name.",
    429: "The server is busy.",
    503: "The server is still loading the model, or its queue is full.",
}
_PASSING = frozenset({408, 425, 429})
_UNKNOWN_FORM = frozenset({400, 422, 501})
_CONSTRAINT = re.compile(r"grammar|json.?schema|response.?format", re.IGNORECASE)
"""A server that cannot hold an answer to a schema says so, some of them as an error of their own:
the same call will never succeed."""


def refused(who: str, status: int, said: str) -> ModelTrouble:
    """An answer with an error's status; 5xx and a few others pass."""
    quoted = f": {one_line(said)}" if said else ""
    unknown = status in _UNKNOWN_FORM or bool(_CONSTRAINT.search(said))
    return ModelTrouble(
        f"{who} answered with status {status}{quoted}.",
        _MENDS.get(status, "Look into the server's log."),
        passing=not unknown and (status >= 500 or status in _PASSING),
        concerns_form=unknown,
    )


def too_long_for(who: str, said: str) -> ModelTrouble:
    """A prompt that a server has no room for, where it does not say how much it has."""
    quoted = f": {one_line(said)}" if said else ""
    return ModelTrouble(
        f"{who} says that the prompt does not fit its context{quoted}.",
        "Use a larger context, or a smaller schema or fewer memories.",
        concerns_prompt=True,
    )


def garbage(who: str, said: str, *, begun: bool = False) -> ModelTrouble:
    """Something that the protocol does not know. A web page instead of an answer is no stumble: waiting
    makes no model server of it; within an answer that had `begun` it can pass."""
    if not begun and said.lstrip()[:15].casefold().startswith(("<!doctype", "<html")):
        return ModelTrouble(
            f"{who} answers with a web page, so no model server is there.",
            "Check the address and its path.",
        )
    return ModelTrouble(
        f"{who} sent something that the protocol does not know: {one_line(said)}",
        "Check that the address is that of a model server.",
        passing=True,
    )


def stopped_early(who: str) -> ModelTrouble:
    """A stream that was over before the answer was."""
    return ModelTrouble(
        f"{who} ended its stream before the answer's end.",
        "Look into the server's log.",
        passing=True,
    )
