"""The choice between engines, each with its reason."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from core.errors import MeritoError
from core.models import weights
from core.models.choosing import NoModel, Terms, choose, largest_qwen, listens
from core.models.embedded import EmbeddedModel
from core.models.ollama import InstalledModel, OllamaModel
from core.models.openai import OpenAIModel
from tests.core.models.server import FakeServer

NOBODY = "127.0.0.1:9"


@pytest.fixture
def terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terms:
    """No Ollama, an empty folder, and small files in the place of the known weights."""
    monkeypatch.setenv("MERITO_MODELS", str(tmp_path))
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.setattr(
        weights,
        "KNOWN",
        [msgspec.structs.replace(one, size=4, sha256=SHA_256) for one in weights.KNOWN],
    )
    return Terms(ollama_host=NOBODY)


SHA_256 = "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"  # of b"data"


def put(tmp_path: Path, name: str) -> Path:
    path = tmp_path / weights.known(name).file
    path.write_bytes(b"data")
    return path


async def test_embedded_calls_at_once_share_the_engine_and_guess_nothing_ahead(
    tmp_path: Path, terms: Terms
) -> None:
    put(tmp_path, "1.5b")
    for at_once, drafts in ((1, True), (4, False)):
        choice = await choose("embedded:1.5b", msgspec.structs.replace(terms, at_once=at_once))
        assert isinstance(choice.model, EmbeddedModel)
        assert (choice.model.slots, choice.model.drafts) == (at_once, drafts)


async def test_ollamas_largest_qwen_comes_first(
    server: FakeServer, tmp_path: Path, terms: Terms
) -> None:
    put(tmp_path, "1.5b")
    server.installed = {
        "llama3:70b": 90,
        "qwen2.5-coder:7b": 5,
        "qwen2.5:3b": 2,
        "qwen3-embedding:8b": 9,
    }
    choice = await choose(None, msgspec.structs.replace(terms, ollama_host=server.address))
    assert isinstance(choice.model, OllamaModel)
    assert choice.model.model == "qwen2.5-coder:7b"
    assert choice.why == (
        f"The Ollama server at {server.address} answers; qwen2.5-coder:7b is its largest Qwen model.",
    )


def test_of_two_with_one_size_the_coder_is_taken() -> None:
    pair = [InstalledModel(name=n, size=5, digest="") for n in ("qwen2.5:7b", "qwen2.5-coder:7b")]
    assert largest_qwen(pair) == pair[1] == largest_qwen(pair[::-1])


async def test_without_ollama_the_better_weights_are_taken(tmp_path: Path, terms: Terms) -> None:
    put(tmp_path, "0.5b")
    assert "0.5b" in await chosen_file(terms)
    put(tmp_path, "1.5b")
    assert "1.5b" in await chosen_file(terms)


async def chosen_file(terms: Terms) -> str:
    choice = await choose(None, terms)
    assert isinstance(choice.model, EmbeddedModel)
    assert choice.why[0] == f"No Ollama server answers at {NOBODY}."
    assert "verified" in choice.why[1]
    return choice.model.weights.name


async def test_an_ollama_without_qwen_is_passed_over(
    server: FakeServer, tmp_path: Path, terms: Terms
) -> None:
    put(tmp_path, "0.5b")
    server.installed = {"llama3:70b": 90}
    choice = await choose("", msgspec.structs.replace(terms, ollama_host=server.address))
    assert isinstance(choice.model, EmbeddedModel)
    assert "has no Qwen model" in choice.why[0]


async def test_with_nothing_at_hand_it_says_what_to_type(terms: Terms) -> None:
    begun = time.monotonic()
    with pytest.raises(NoModel) as caught:
        await choose(None, terms)
    assert time.monotonic() - begun < 1
    assert caught.value.why[0] == f"No Ollama server answers at {NOBODY}."
    assert "merito models pull" in caught.value.mend


async def test_damaged_weights_are_never_used(tmp_path: Path, terms: Terms) -> None:
    put(tmp_path, "1.5b").write_bytes(b"dada")
    with pytest.raises(MeritoError, match="SHA-256"):
        await choose("embedded:1.5b", terms)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("embedded:0.5b", EmbeddedModel),
        ("ollama:qwen2.5-coder:7b", OllamaModel),
        ("openai:http://127.0.0.1:8080/v1#some/model", OpenAIModel),
    ],
)
async def test_a_name_chooses_its_engine(name: str, kind: type, tmp_path: Path, terms: Terms) -> None:
    put(tmp_path, "0.5b")
    choice = await choose(name, terms)
    assert isinstance(choice.model, kind)
    await choice.model.close()


async def test_a_path_chooses_a_file_of_ones_own(tmp_path: Path, terms: Terms) -> None:
    path = tmp_path / "own [b] %s.gguf"
    path.write_bytes(b"GGUF")
    choice = await choose(f"embedded:{path}", terms)
    assert isinstance(choice.model, EmbeddedModel)
    assert choice.model.weights == path
    assert "not verified" in choice.why[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("qwen", "'qwen' names no model"),
        ("embedded:", "names no model"),
        ("llamafile:x", "names no model"),
        ("embedded:9b", "There is no file 9b"),
        ("embedded:1.5b", "are not in"),
        ("openai:localhost", "not the address of a server"),
        ("openai:ftp://x", "not the address of a server"),
        (":", "names no model"),
    ],
)
async def test_a_bad_name_gives_one_clear_line(name: str, words: str, terms: Terms) -> None:
    with pytest.raises(MeritoError) as caught:
        await choose(name, terms)
    assert words in caught.value.problem
    assert "\n" not in str(caught.value)
    assert caught.value.mend


@pytest.mark.parametrize(
    "address", ["http://[", "host:notaport", "127.0.0.1:9", "no-such-host.invalid"]
)
async def test_a_bad_address_is_an_address_where_nobody_listens(address: str) -> None:
    assert not await listens(address)
