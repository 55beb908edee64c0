"""SciPy's functions, differentiable, under their own names; each part loads on first use."""

from __future__ import annotations

import importlib
from typing import Any

_PARTS = ("integrate", "linalg", "sparse", "special", "stats")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its parts are {', '.join(_PARTS)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS})
