"""A scroll bar that costs next to nothing: whole cells, drawn from three strips.

Textual's own is drawn by rich, segment by segment, at every repaint of anything beside it; with
three panes that was a fifth of the console's work under load.
"""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.css.styles import RulesMap
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual


class PlainBar(ScrollBarRender, Visual):
    """A vertical bar of whole cells; a horizontal one is drawn as Textual does."""

    def visualize(self) -> Visual | None:
        """Draw this bar as strips, without rich."""
        return self if self.vertical else None

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        """Track, thumb, track."""
        size = height or 0
        start, end = _thumb(size, self.virtual_size, self.window_size, int(self.position))
        look = self.style if isinstance(self.style, RichStyle) else RichStyle.parse(self.style)
        above, thumb, below = _cells(width, look)
        return [above] * start + [thumb] * (end - start) + [below] * (size - end)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """As thick as it was told to be."""
        return self.thickness

    def get_height(self, rules: RulesMap, width: int) -> int:
        """It takes what it is given."""
        return 1


def _thumb(size: int, virtual: int, window: int, position: int) -> tuple[int, int]:
    """First and last cell of the thumb; nothing where everything is in view."""
    if not size or not window or virtual <= window:
        return 0, 0
    length = max(1, round(size * window / virtual))
    start = round((size - length) * position / (virtual - window))
    start = max(0, min(start, size - length))
    return start, start + length


@lru_cache(maxsize=64)
def _cells(width: int, look: RichStyle) -> tuple[Strip, Strip, Strip]:
    back, bar = look.bgcolor, look.color
    made = (
        RichStyle(color=back, bgcolor=back, meta={"@mouse.down": "scroll_up"}),
        RichStyle(color=bar, bgcolor=bar, meta={"@mouse.down": "grab"}),
        RichStyle(color=back, bgcolor=back, meta={"@mouse.down": "scroll_down"}),
    )
    above, thumb, below = (Strip([Segment(" " * width, style)], width) for style in made)
    return above, thumb, below
