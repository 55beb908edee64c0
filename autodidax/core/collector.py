"""Python's garbage collector, paused while a program is written: it would look at every new object many times."""

from __future__ import annotations

import gc


class collector_paused:
    """No collections inside the block; nested blocks and other threads leave it to the outermost one."""

    __slots__ = ("_paused",)

    def __enter__(self) -> None:
        self._paused = gc.isenabled()
        if self._paused:
            gc.disable()

    def __exit__(self, *exc: object) -> None:
        if self._paused:
            gc.enable()
