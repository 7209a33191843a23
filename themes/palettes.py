"""The project's own themes as tables of colours. `ink-*` are the colours of text with a meaning;
each meaning also has a word or a sign of its own wherever it is used."""

from __future__ import annotations

from textual.theme import Theme

DEFAULT_THEME = "merito-dark"

_COLOURS: dict[str, dict[str, str]] = {
    "merito-dark": {
        "primary": "#6cb6ff",
        "secondary": "#b69cf5",
        "accent": "#f0b95a",
        "success": "#5fcf8e",
        "warning": "#f0b95a",
        "error": "#ff8079",
        "foreground": "#d9dfe9",
        "background": "#10141b",
        "surface": "#151a23",
        "panel": "#1d2430",
        "ink-quiet": "#97a1b2",
        "ink-added": "#1d4a33",
        "ink-removed": "#5a2a2c",
        "edge": "#333d4d",
        "cursor": "#1e3856",
        "cursor-dim": "#212a37",
    },
    "merito-light": {
        "primary": "#0b5cad",
        "secondary": "#6b3fb5",
        "accent": "#8a4b00",
        "success": "#17692f",
        "warning": "#8a5300",
        "error": "#b3202a",
        "foreground": "#1f242c",
        "background": "#fbfaf7",
        "surface": "#fbfaf7",
        "panel": "#eeece6",
        "ink-quiet": "#5d6673",
        "ink-added": "#c9ecd3",
        "ink-removed": "#f6d0d0",
        "edge": "#c4c1b8",
        "cursor": "#d3e5f8",
        "cursor-dim": "#e6e9ec",
    },
    "merito-contrast": {
        "primary": "#7fd4ff",
        "secondary": "#ffb3ff",
        "accent": "#ffff00",
        "success": "#00ff6a",
        "warning": "#ffd500",
        "error": "#ff8c8c",
        "foreground": "#ffffff",
        "background": "#000000",
        "surface": "#000000",
        "panel": "#1a1a1a",
        "ink-quiet": "#d0d0d0",
        "ink-added": "#005c26",
        "ink-removed": "#7a0000",
        "edge": "#ffffff",
        "cursor": "#003388",
        "cursor-dim": "#303030",
    },
    "merito-projector": {
        "primary": "#003e9c",
        "secondary": "#5a008f",
        "accent": "#862c00",
        "success": "#00571c",
        "warning": "#743a00",
        "error": "#9a000f",
        "foreground": "#000000",
        "background": "#ffffff",
        "surface": "#ffffff",
        "panel": "#e3e6ea",
        "ink-quiet": "#333a42",
        "ink-added": "#9fe8b0",
        "ink-removed": "#ffb3b3",
        "edge": "#000000",
        "cursor": "#ffd84d",
        "cursor-dim": "#efe3b8",
    },
}
_LIGHT = frozenset({"merito-light", "merito-projector"})
_BASE = (
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "error",
    "foreground",
    "background",
    "surface",
    "panel",
)

INKS: dict[str, str] = {
    "ink-good": "success",
    "ink-bad": "error",
    "ink-warn": "warning",
    "ink-keyword": "primary",
    "ink-string": "success",
    "ink-number": "accent",
    "ink-name": "foreground",
    "ink-accent": "accent",
    "ink-quiet": "foreground",
    "ink-added": "success-muted",
    "ink-removed": "error-muted",
    "edge": "panel",
    "cursor": "primary-muted",
    "cursor-dim": "panel",
}
"""Each ink, and the colour that stands in for it in a theme that has none of its own."""


def palettes() -> list[Theme]:
    """The themes, ready to register."""
    return [_theme(name, colours) for name, colours in _COLOURS.items()]


def with_inks(variables: dict[str, str]) -> dict[str, str]:
    """A theme's variables, completed by the inks that it does not define."""
    return {ink: variables.get(base, "") for ink, base in INKS.items()} | variables


def _theme(name: str, colours: dict[str, str]) -> Theme:
    own = {key: value for key, value in colours.items() if key not in _BASE}
    own |= {ink: colours[base] for ink, base in INKS.items() if base in colours and ink not in own}
    own |= {
        "border": colours["primary"],
        "border-blurred": colours["edge"],
        "block-cursor-background": colours["cursor"],
        "block-cursor-foreground": colours["foreground"],
        "scrollbar": colours["edge"],
        "scrollbar-background": colours["surface"],
        "scrollbar-corner-color": colours["surface"],
        "input-cursor-background": colours["foreground"],
        "input-cursor-foreground": colours["background"],
    }
    base = {key: colours[key] for key in _BASE}
    return Theme(name=name, dark=name not in _LIGHT, variables=own, **base)  # type: ignore[arg-type]
