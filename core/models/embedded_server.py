"""The child process of the embedded engine: llama.cpp's HTTP server on loopback.

Started by `embedded.py` with one line of JSON on standard input (`Orders`). It answers with one
line on standard output, `Ready` or `Failed`, and ends when standard input closes, which is what
happens when its parent dies, however it dies.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

import msgspec


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """What the parent wants served."""

    weights: str
    context_tokens: int
    threads: int
    slots: int
    cache_mib: int
    """RAM for prompts that lost their slot."""
    drafts: bool
    """Whether the next tokens are guessed from the text so far and checked in one pass."""
    key: str
    """Calls without it are refused: other users of the machine can reach loopback too."""
    parent: int


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The server listens at `address`."""

    address: str


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The weights could not be served."""

    reason: str


Word = Ready | Failed


def main() -> None:
    """Serve until the parent lets go."""
    orders = msgspec.json.decode(sys.stdin.buffer.readline(), type=Orders)
    answer = os.dup(1)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, args=(orders.parent,), daemon=True).start()
    try:
        server, word = _serve(orders)
    except Exception as error:
        server, word = None, Failed(" ".join(str(error).split()) or type(error).__name__)
    os.write(answer, msgspec.json.encode(word) + b"\n")
    os.close(answer)
    if server is not None:
        sys.stdin.buffer.read()
    os._exit(0)


def _serve(orders: Orders) -> tuple[object, Word]:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = orders.weights
    params.n_ctx = orders.context_tokens * orders.slots
    params.n_parallel = orders.slots
    params.n_gpu_layers = 0
    params.fit_params = False
    params.cpuparams.n_threads = orders.threads
    params.cpuparams_batch.n_threads = orders.threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [orders.key]
    params.ui = False
    params.ctx_shift = False
    params.cache_prompt = True
    params.cache_ram_mib = orders.cache_mib
    # Chunks reused away from a common prefix carry attention to text that is no longer there.
    params.n_cache_reuse = 0
    if orders.drafts:
        _draft_from_the_text(params)
    server = xllamacpp.Server(params)
    return server, Ready(server.listening_address)


def _draft_from_the_text(params: Any) -> None:
    """Prompt-lookup drafting: where the last four tokens stood in the text before, the twelve that
    followed them there are guessed again, and one pass of the model checks them all. A repair
    repeats most of a query, and every query repeats names of the schema. What is kept is what the
    model itself would have sampled."""
    import xllamacpp

    kind = xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE
    params.speculative.types = [kind]
    params.speculative.ngram_simple.size_n = 4
    params.speculative.ngram_simple.size_m = 12


def _end_with_parent(parent: int) -> None:
    """A second watch on the parent, for as long as the main thread is inside native code."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


if __name__ == "__main__":
    main()
