"""Growing columns of numbers, and numbers for words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Column:
    """A numpy array that grows by one value at a time at constant cost a value."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._array: NDArray[Any] = np.zeros(64, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, value: float) -> None:
        """Add a value at the end."""
        if self._size == len(self._array):
            self._array = np.concatenate([self._array, np.zeros_like(self._array)])
        self._array[self._size] = value
        self._size += 1

    def __setitem__(self, row: int, value: float) -> None:
        self.values[row] = value

    @property
    def values(self) -> NDArray[Any]:
        """A view of the values so far, valid until the next `append`."""
        return self._array[: self._size]


class Words:
    """A number for each distinct word, from 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, word: str) -> int:
        """The word's number, a new one where it is new."""
        return self._numbers.setdefault(word, len(self._numbers))

    def find(self, word: str) -> int:
        """The word's number; -1, which equals no number, where it was never added."""
        return self._numbers.get(word, -1)
