"""The style sheet of the console: only what changed is parsed."""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet


class SteadySheet(Stylesheet):
    """Textual parses every rule anew whenever the look is refreshed, several times before the first
    paint, also where neither the theme's variables nor the sources are other than before."""

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._taken = variables

    def set_variables(self, variables: dict[str, str]) -> None:
        """Take a theme's variables. The same ones once more leave standing what was parsed."""
        if variables != self._taken:
            super().set_variables(variables)
            self._taken = variables

    def reparse(self) -> None:
        """Parse the sources, as far as they were not. Raises StylesheetError, and then all is as it
        was."""
        self.parse()
