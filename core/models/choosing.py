"""Which model answers: the one that was asked for, or the best that is at hand, and why."""

from __future__ import annotations

import asyncio
import urllib.parse
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from core.errors import MeritoError, UsageMistake
from core.models import weights
from core.models.call import CONTEXT_TOKENS, Deadlines
from core.models.chat import ChatModel, ModelTrouble
from core.models.ollama import InstalledModel, OllamaModel, OllamaServer
from core.models.progress import Listener, silent
from core.models.weights import Weights

FORMS = (
    "embedded:1.5b",
    "embedded:/path/to/weights.gguf",
    "ollama:qwen2.5-coder:7b",
    "openai:http://127.0.0.1:8080/v1#name",
)
"""How a model is named, one example each."""
GGUF = b"GGUF"
"""How a file of weights begins."""
NO_CHATS = ("embed", "rerank")
"""Words in the names of models that do not answer."""
PROBE = Deadlines(connect=0.8, control=5.0)
"""A server that is there answers at once; nobody waits for one that is not."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a choice is made under."""

    ollama_host: str = ""
    """Empty for OLLAMA_HOST or this machine's usual port."""
    folder: Path | None = None
    """Of the weights; None for `weights.models_folder()`."""
    context_tokens: int = CONTEXT_TOKENS
    threads: int | None = None
    """Of the embedded engine; None for all cores."""
    at_once: int = 1
    """Calls that the embedded engine serves together: several share each pass over the weights, and
    then guessing ahead costs more than it gains."""
    listener: Listener = silent
    """Told how the checking of weights gets on, which happens once."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The model, and one line for each reason."""

    model: ChatModel
    why: tuple[str, ...]


class NoModel(ModelTrouble):
    """There is nothing to choose from; `why` has one line for each thing that was tried."""

    def __init__(self, why: tuple[str, ...]) -> None:
        super().__init__(
            f"There is no model at hand. {' '.join(why)}",
            "Run: merito models pull (1.1 GB), or start Ollama with a Qwen model.",
        )
        self.why = why


async def choose(model: str | None = None, terms: Terms | None = None) -> Choice:
    """The model that `model` names (`FORMS`), or, where it is empty, the best at hand: the
    largest Qwen of an Ollama server that answers, else the best embedded weights.

    Nothing is loaded yet. Raises NoModel, MeritoError for a name that says nothing, and for
    weights that are missing or damaged.
    """
    terms = terms or Terms()
    if not model:
        return await _automatic(terms)
    check_name(model)
    engine, _, rest = model.partition(":")
    return await ENGINES[engine](rest, terms)


def check_name(model: str) -> None:
    """Raises UsageMistake where `model` can be the name of none. Nothing is asked for that, so it can
    be done before anything else."""
    engine, _, rest = model.partition(":")
    if engine not in ENGINES or not rest:
        raise UsageMistake(f"'{model}' names no model.", f"Say for example {', '.join(FORMS)}.")
    if engine == "embedded" and _known(rest) is None:
        _check_weights(_weights_at(rest))
    if engine == "openai":
        _check_address(rest.partition("#")[0])


async def _automatic(terms: Terms) -> Choice:
    server, verdict = await _ollama_at_hand(terms)
    if server:
        return Choice(
            model=OllamaModel(server.name, host=terms.ollama_host, num_ctx=terms.context_tokens),
            why=(verdict,),
        )
    for one in weights.KNOWN:
        if weights.find(one, terms.folder):
            choice = await _embedded(one.name, terms)
            return Choice(model=choice.model, why=(verdict, *choice.why))
    raise NoModel((verdict, f"There are no weights in {terms.folder or weights.models_folder()}."))


async def _ollama_at_hand(terms: Terms) -> tuple[InstalledModel | None, str]:
    """The largest Qwen of the server, if any, and what was found, in one line."""
    server = OllamaServer(terms.ollama_host, deadlines=PROBE)
    if not await listens(server.host):
        return None, f"No Ollama server answers at {server.host}."
    try:
        installed = await server.list_models()
    except ModelTrouble as trouble:
        return None, trouble.problem
    finally:
        await server.close()
    largest = largest_qwen(installed)
    if largest is None:
        return None, f"{server.who} has no Qwen model (merito models pull ollama:qwen2.5-coder:7b)."
    return largest, f"{server.who} answers; {largest.name} is its largest Qwen model."


def largest_qwen(installed: list[InstalledModel]) -> InstalledModel | None:
    """The largest Qwen chat model; of two with one size, the coder."""
    chats = [
        one
        for one in installed
        if "qwen" in one.name.casefold() and not any(word in one.name for word in NO_CHATS)
    ]
    return max(chats, key=lambda one: (one.size, "coder" in one.name), default=None)


async def listens(address: str) -> bool:
    """Whether anybody takes a connection at an address, with or without scheme and port."""
    try:
        parts = urllib.parse.urlsplit(address if "://" in address else f"http://{address}")
        port = parts.port or {"https": 443}.get(parts.scheme, 11434)
        async with asyncio.timeout(PROBE.connect):
            _, writer = await asyncio.open_connection(parts.hostname or "127.0.0.1", port)
    except (OSError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


async def _embedded(rest: str, terms: Terms) -> Choice:
    from core.models.embedded import EmbeddedModel

    known = _known(rest)
    path = _at_hand(known, terms.folder) if known else _weights_at(rest)
    if known:
        await asyncio.to_thread(weights.verify, known, path, terms.listener)
    model = EmbeddedModel(
        path,
        context_tokens=terms.context_tokens,
        threads=terms.threads,
        slots=terms.at_once,
        drafts=terms.at_once == 1,
    )
    verdict = "verified" if known else "not verified: the file is none of the known ones"
    return Choice(model=model, why=(f"The embedded engine has {path} ({verdict}).",))


def _known(name: str) -> Weights | None:
    return next((one for one in weights.KNOWN if one.name == name.casefold()), None)


def _weights_at(rest: str) -> Path:
    return Path(rest).expanduser()


def _check_weights(path: Path) -> None:
    names = ", ".join(f"embedded:{one.name}" for one in weights.KNOWN)
    if not path.is_file():
        raise UsageMistake(f"There is no file {path}.", f"Say {names}, or the path of a GGUF file.")
    with path.open("rb") as file:
        if file.read(len(GGUF)) != GGUF:
            raise UsageMistake(f"{path} is no GGUF file.", f"Say {names}, or the path of one.")


def _at_hand(known: Weights, folder: Path | None) -> Path:
    path = weights.find(known, folder)
    if path is None:
        raise MeritoError(
            f"The weights {known.name} are not in {folder or weights.models_folder()}.",
            f"Run: merito models pull {known.name}",
        )
    return path


async def _ollama(rest: str, terms: Terms) -> Choice:
    model = OllamaModel(rest, host=terms.ollama_host, num_ctx=terms.context_tokens)
    return Choice(model=model, why=(f"{model.server.who} was asked for by name.",))


async def _openai(rest: str, _terms: Terms) -> Choice:
    from core.models.openai import OpenAIModel

    address, _, name = rest.partition("#")
    model = OpenAIModel(address, name)
    return Choice(model=model, why=(f"{model.who} was asked for by name.",))


def _check_address(address: str) -> None:
    if not _is_address(address):
        raise UsageMistake(
            f"'{address}' is not the address of a server.", f"Say for example {FORMS[-1]}."
        )


def _is_address(address: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    spaced = any(character.isspace() for character in address)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0 and not spaced


ENGINES: dict[str, Callable[[str, Terms], Awaitable[Choice]]] = {
    "embedded": _embedded,
    "ollama": _ollama,
    "openai": _openai,
}
