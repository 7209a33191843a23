"""The weights of the embedded engine: which there are, whether they are intact, how to get them."""

from core.models.weights.fetching import SOURCES, pull
from core.models.weights.files import (
    KNOWN,
    Parts,
    Weights,
    find,
    is_verified,
    known,
    models_folder,
    sha256_of,
    verify,
)

__all__ = [
    "KNOWN",
    "SOURCES",
    "Parts",
    "Weights",
    "find",
    "is_verified",
    "known",
    "models_folder",
    "pull",
    "sha256_of",
    "verify",
]
