"""One case of a check as a short text, from which it is run again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from autodidax import errors
from autodidax.testing.points import AFTER_OTHERS, POINTS
from autodidax.testing.report import Failure

MODES = ("fwd", "rev", "vmap", "jit")
CASE_MODES = (*MODES, "impl")
COMMAND = "python -m autodidax check"
_PART = re.compile(r"(?:^|,)(seed|sample|point|modes?|order|dtype)=")
_OF_SAMPLE = re.compile(r"(\d+) of seed (\d+)(?=:|,|$)")


@dataclass(frozen=True)
class Repro:
    """Which case of a subject's check: its seed and sample, the point (by name; "" for the given one), mode and order;
    and in which modes it was run, where not in all, since reverse mode is judged by forward mode where that is run.

    >>> str(Repro("sin", sample=3, point="zeros", mode="rev", order=2))
    'sin@sample=3,point=zeros,mode=rev,order=2'
    >>> Repro.parse("my.module:f@seed=4").seed
    4
    """

    subject: str
    seed: int = 0
    sample: int | None = None
    point: str = ""
    mode: str = ""
    order: int = 1
    dtype: str = ""
    modes: str = ""  # as in "fwd+rev"; "" for all

    def __str__(self) -> str:
        parts = [f"{f.name}={getattr(self, f.name)}" for f in fields(self)[1:] if getattr(self, f.name) != f.default]
        return self.subject + ("@" + ",".join(parts) if parts else "")

    @classmethod
    def parse(cls, text: str) -> Repro:
        """Read what `str` wrote.

        Raises
        ------
        ArgumentError : where a part is none of seed, sample, point, mode, order, dtype, modes, or is no number where
            one is due.
        """
        subject, at, rest = text.partition("@")
        pieces = _PART.split(rest)
        if not subject or pieces[0] or (at and len(pieces) == 1):
            raise _unreadable(text, f"{pieces[0] or rest!r} is no part of it" if subject else "the name is missing")
        values: dict[str, Any] = {}
        for name, value in zip(pieces[1::2], pieces[2::2], strict=True):
            if name in values or not value:
                raise _unreadable(text, f"{name} is given twice" if name in values else f"{name} has no value")
            values[name] = value
        for name in ("seed", "sample", "order"):
            if name in values:
                if not values[name].isdecimal():
                    raise _unreadable(text, f"{name} is {values[name]!r}, no number")
                values[name] = int(values[name])
        if values.get("mode", "fwd") not in CASE_MODES:
            raise _unreadable(text, f"mode is {values['mode']!r}, none of {', '.join(CASE_MODES)}")
        if not set(values.get("modes", "fwd").split("+")) <= set(MODES):
            raise _unreadable(text, f"modes is {values['modes']!r}, none of {', '.join(MODES)} or some with + between")
        if values.get("order", 1) not in (1, 2, 3):
            raise _unreadable(text, f"order is {values['order']}, none of 1, 2, 3")
        if values.get("point", "").split(" of ")[0] not in ("", AFTER_OTHERS, *POINTS):
            raise _unreadable(text, f"point is {values['point']!r}, none of {', '.join(POINTS)}")
        return cls(subject, **values)

    def command(self, *, strict: bool = False) -> str:
        """The command line that runs this case again."""
        return f"{COMMAND} {'--strict ' * strict}--repro {shlex.quote(str(self))}"


def _unreadable(text: str, why: str) -> errors.ArgumentError:
    return errors.ArgumentError(
        f"cannot read the case {text!r}: {why}",
        mend="write it as in sin@seed=0,sample=3,point=zeros,mode=rev",
        where="",
    )


def repro_of(
    failure: Failure, reference: str, dtype: str | None = None, modes: Sequence[str] = MODES
) -> Repro | None:  # fmt: skip
    """The case in which a failure was found, in a check in these modes; None where it is about no sample or draw.

    The name of a sample starts with its place and seed: "3 of seed 0: ...".
    """
    chosen = "" if set(modes) == set(MODES) else "+".join(m for m in MODES if m in modes)
    place = _OF_SAMPLE.match(failure.sample)
    if place is not None:
        mode = failure.mode if failure.mode in CASE_MODES else ""
        seed, sample = int(place[2]), int(place[1])
        return Repro(reference, seed, sample, failure.point, mode, failure.order, dtype or "", chosen)
    return None if failure.seed is None else Repro(reference, failure.seed)


def of_case(found: Sequence[Failure], case: Repro) -> list[Failure]:
    """Those of the failures that are the case: of its mode, point and order; where there are none, of its mode, found
    at a lower order on the way; and all where there are none of these: what fails is shown in any case."""
    wide = [f for f in found if case.mode in ("", f.mode) and (case.sample is None or f.point == case.point)]
    return [f for f in wide if f.order == case.order] or wide or list(found)
