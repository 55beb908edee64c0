"""A primitive's samples: in another dtype, and those that stand for the others where not all are checked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of, get_aval
from autodidax.core.primitive import Primitive, Sample


def cast_sample(p: Primitive, s: Sample, dtype: np.dtype[Any]) -> Sample | None:
    """A sample with its floating and complex operands in another dtype; None where that is no sample of `p`."""
    if not any(is_inexact(dtype_of(a)) for a in s.args):
        return None
    if dtype.kind != "c" and any(dtype_of(a).kind == "c" for a in s.args):
        return None
    args = [a if type(a) in PYTHON_SCALARS or not is_inexact(dtype_of(a)) else np.asarray(a).astype(dtype)[()]
            for a in s.args]  # fmt: skip
    try:
        p.out_avals(*[get_aval(a) for a in args], **s.params)
        p.impl(*args, **s.params)
    except Exception:  # a primitive may take fewer dtypes, and say so in any way
        return None
    return Sample(tuple(args), s.params, nonsmooth=s.nonsmooth)


def largest_of_each_kind(samples: Sequence[Sample]) -> set[int]:
    """Of the smooth samples with the same dtypes and parameters, the one with the most entries."""
    largest: dict[Any, tuple[int, int]] = {}
    for k, s in enumerate(samples):
        if not s.nonsmooth:
            kind = (*(dtype_of(a) for a in s.args), repr(s.params))
            size = sum(int(np.size(a)) for a in s.args)
            if kind not in largest or size > largest[kind][0]:
                largest[kind] = size, k
    return {k for _, k in largest.values()}


def plainest(samples: Sequence[Sample], chosen: Collection[int]) -> list[int]:
    """Of the samples chosen, the first of those with the most operands in double precision."""
    counts = {k: sum(dtype_of(a) == np.float64 for a in samples[k].args) for k in sorted(chosen)}
    return [max(counts, key=lambda k: counts[k])] if counts else []


def few(samples: Sequence[Sample]) -> set[int]:
    """The plainest sample, and of those with the same dtypes the one with the fewest entries."""
    fewest: dict[Any, tuple[int, int]] = {}
    for k, s in enumerate(samples):
        kind = tuple(dtype_of(a) for a in s.args)
        size = sum(int(np.size(a)) for a in s.args)
        if all(np.size(a) for a in s.args) and (kind not in fewest or size < fewest[kind][0]):
            fewest[kind] = size, k
    return {*plainest(samples, range(len(samples))), *(k for _, k in fewest.values())}
