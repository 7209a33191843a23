"""Weights from the publisher's repository on Hugging Face."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from core.models.call import one_line
from core.models.progress import Listener, Progress
from core.models.weights.files import Weights
from core.models.weights.sources import Unavailable, need_room

USUAL_ENDPOINT = "https://huggingface.co"
PATIENCE = 4.0
"""Seconds in which the hub must have answered; machines without it must not wait long."""


def fetch(weights: Weights, folder: Path, listener: Listener) -> Path:
    """The downloaded file. The hub's own client resumes it. Raises Unavailable."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        raise Unavailable("HF_HUB_OFFLINE is set")
    endpoint = os.environ.get("HF_ENDPOINT", USUAL_ENDPOINT).rstrip("/")
    listener(Progress(step=f"asking {endpoint}", total=weights.size))
    _must_answer(f"{endpoint}/{weights.hub_repo}/resolve/main/{weights.file}")
    need_room(folder, weights.size)

    import huggingface_hub

    try:
        return Path(
            huggingface_hub.hf_hub_download(
                weights.hub_repo,
                weights.file,
                local_dir=folder / "hub",
                endpoint=endpoint,
                tqdm_class=_reporting(weights, listener),
            )
        )
    except OSError:
        raise
    except Exception as error:
        raise Unavailable(one_line(str(error)) or type(error).__name__) from error


def _must_answer(url: str) -> None:
    """Raises Unavailable unless the hub offers the file within PATIENCE.

    In a thread of its own, because the resolution of a name heeds no time-out.
    """
    outcome = [f"no answer within {PATIENCE:g} s"]

    def ask() -> None:
        import httpx

        try:
            status = httpx.head(url, timeout=PATIENCE, follow_redirects=True).status_code
            outcome[0] = "" if status < 400 else f"status {status}"
        except httpx.HTTPError as error:
            outcome[0] = one_line(str(error)) or type(error).__name__

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if outcome[0]:
        raise Unavailable(outcome[0])


def _reporting(weights: Weights, listener: Listener) -> Any:
    """The hub draws its own bar; this one draws nothing and tells the listener."""
    from huggingface_hub.utils.tqdm import tqdm

    class Silent(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            self._done = int(options.get("initial") or 0)
            super().__init__(*args, **options | {"disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> bool | None:
            self._done += int(n or 0)
            listener(Progress(step="fetching from the hub", done=self._done, total=weights.size))
            return None

    return Silent
