"""Where the console puts what must not reach the screen."""

from __future__ import annotations

import traceback
from datetime import datetime

from tui.settings import log_file, log_words


def write_traceback(error: BaseException) -> str:
    """Append a traceback to the log and say in a sentence where that is."""
    log = log_file()
    with log.open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"\n{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}\n")
        file.writelines(traceback.format_exception(error))
    return log_words()
