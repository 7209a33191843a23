"""What a person chose about the console: theme, keys, and what it keeps between two starts."""

from __future__ import annotations

from dataclasses import dataclass, field

from themes.palettes import DEFAULT_THEME
from tui import settings
from tui.console.kept import Kept
from tui.console.keys import Keys, Row, keys_from


@dataclass(frozen=True)
class Preferences:
    """The console's look and handling. As made without arguments, they are nobody's: tests, and
    consoles that keep nothing."""

    theme: str = DEFAULT_THEME
    keys: Keys = field(default_factory=Keys)
    kept: Kept = field(default_factory=Kept)

    @property
    def words(self) -> list[str]:
        """What has to be said about them at the start, one line each."""
        return [words for words in (self.keys.words, self.kept.problem) if words]


def load_preferences(theme: str | None = None) -> Preferences:
    """From the settings and the state file; a theme that was set comes before the one that was last
    looked at. Raises MeritoError for a settings file that makes no sense."""
    kept = Kept(settings.state_file())
    chosen = settings.resolve("theme", theme)
    looked_at = kept.state.theme if chosen.source == "default" else ""
    return Preferences(looked_at or chosen.value, keys_in_force(), kept)


def keys_in_force() -> Keys:
    """The keys as the settings have them. Raises MeritoError for a settings file that makes no
    sense; a row that makes none is told in the keys' troubles."""
    rows = {name: Row(row.value, row.source) for name, row in settings.key_rows().items()}
    return keys_from(rows)
