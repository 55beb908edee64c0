"""Dormand and Prince's method of order 5(4) with step control, on lists of plain arrays: one system, or rows of it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors

# Dormand and Prince (1980), table 2: stages, where the last row gives the solution of order 5, and the difference to
# the solution of order 4
NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)

Leaves = list[Any]
Derivative = Callable[[Leaves, Any], Leaves]  # (state, time) -> its rate of change


class Accuracy(NamedTuple):
    """What step control aims at: errors of a step up to atol + rtol |y|, steps up to hmax, at most mxstep steps
    between two times.

    `degrees`: 0 for the leaves of a state; for its derivatives 1, for theirs 2, and so on, all leaves of one degree in
    a row. Derivatives have no absolute size: the leaves of a degree are held to rtol of their own largest entry, so
    that steps do not depend on the scale of a tangent or cotangent, and the solution is linear in it."""

    rtol: float
    atol: float
    mxstep: float
    hmax: float
    degrees: tuple[int, ...]

    def extended(self, count: int) -> Accuracy:
        """For `count` more leaves that are derivatives of those there are."""
        return self._replace(degrees=(*self.degrees, *(max(self.degrees, default=0) + 1,) * count))


def check_monotonic(t: np.ndarray) -> None:
    """Raise unless times rise or fall along the last axis (repeated times are allowed)."""
    steps = np.diff(t, axis=-1)
    if not np.all(np.all(steps >= 0, axis=-1) | np.all(steps <= 0, axis=-1)):
        raise errors.ArgumentError(
            "odeint: the times are not monotonic", mend="sort t, with the time of y0 as the first (or last reversed)"
        )


def integrate(f: Derivative, y: Leaves, t: np.ndarray, accuracy: Accuracy) -> Leaves:
    """The states at times t, each of shape (T, ...), from the state at t[0]."""
    check_monotonic(t)
    ys = [np.empty((len(t), *np.shape(x)), x.dtype) for x in y]
    _put(ys, 0, y)
    if len(t) == 1 or not ys:
        return ys
    time = float(t[0])
    with np.errstate(all="ignore"):  # a step that is tried may leave the domain of f
        stages = _Stages(f, y, time, t.dtype.type, lambda h, _: h)
        h = float(_first_step(stages, y, time, float(t[-1]) - time, accuracy, _rms))
        for i in range(1, len(t)):
            target, count = float(t[i]), 0
            while time != target:
                remaining = target - time
                is_last = h >= abs(remaining)
                step = remaining if is_last else h if remaining > 0 else -h
                new, differences = stages.step(y, time, step)
                error = float(_error_size(differences, y, new, accuracy, _rms))
                count += 1
                grown = abs(step) * _factor(error)
                if error <= 1:
                    time = target if is_last else time + step
                    y = new
                    stages.accept()
                    h = min(max(h, grown) if is_last else grown, accuracy.hmax)
                elif error != error and not stages.start_is_finite():
                    _put(ys, slice(i, None), [np.nan] * len(ys))
                    return ys
                else:
                    h = grown
                    if h < 4 * np.spacing(max(abs(time), abs(target))):
                        raise _step_too_small(time)
                if count >= accuracy.mxstep and time != target:
                    raise _too_many_steps(accuracy, time, float(t[i - 1]), target)
            _put(ys, i, y)
    return ys


def integrate_rows(f: Derivative, y: Leaves, t: np.ndarray, accuracy: Accuracy) -> Leaves:
    """The states at times t, (rows, T), of shape (rows, T, ...): each row takes steps of its own."""
    check_monotonic(t)
    rows, n = t.shape
    ys = [np.empty((rows, n, *np.shape(x)[1:]), x.dtype) for x in y]
    _put(ys, (slice(None), 0), y)
    if n == 1 or rows == 0 or not ys:
        return ys
    every = np.arange(rows)
    exact = t.astype(np.float64)
    time, index, count = exact[:, 0].copy(), np.ones(rows, int), np.zeros(rows, int)
    active = np.ones(rows, bool)
    with np.errstate(all="ignore"):
        stages = _Stages(f, y, time, t.dtype.type, _by_row)
        h = _first_step(stages, y, time, exact[:, -1] - time, accuracy, _rms_by_row)
        while True:
            target = exact[every, np.minimum(index, n - 1)]
            arrived = active & (time == target)
            while arrived.any():
                for out, x in zip(ys, y, strict=True):
                    out[arrived, index[arrived]] = x[arrived]
                index[arrived] += 1
                count[arrived] = 0
                active &= index < n
                target = exact[every, np.minimum(index, n - 1)]
                arrived &= active & (time == target)
            if not active.any():
                return ys
            remaining = np.where(active, target - time, 0.0)
            is_last = h >= abs(remaining)
            step = np.where(is_last, remaining, np.copysign(h, remaining))
            new, differences = stages.step(y, time, step)
            error = _error_size(differences, y, new, accuracy, _rms_by_row)
            count += active
            accepted = active & (error <= 1)
            rejected = active & ~accepted
            if np.isnan(error[rejected]).any():
                for row in np.flatnonzero(rejected & np.isnan(error) & ~stages.start_is_finite(by_row=True)):
                    _put(ys, (row, slice(index[row], None)), [np.nan] * len(ys))
                    active[row] = rejected[row] = False
            time = np.where(accepted, np.where(is_last, target, time + step), time)
            y = [np.where(_by_row(accepted, a), b, a) for a, b in zip(y, new, strict=True)]
            stages.accept(accepted)
            grown = abs(step) * _factors(error)
            h = np.where(rejected, grown, np.where(accepted, np.where(is_last, np.maximum(h, grown), grown), h))
            h = np.minimum(h, accuracy.hmax)
            small = rejected & (h < 4 * np.spacing(np.maximum(abs(time), abs(target))))
            if small.any():
                raise _step_too_small(time[small][0])
            late = np.flatnonzero(active & (count >= accuracy.mxstep) & (time != target))
            if late.size:
                raise _too_many_steps(accuracy, time[late[0]], exact[late[0], index[late[0]] - 1], target[late[0]])


class _Stages:
    """The rates of change at the stages of a step, of which the last is the first of the next."""

    def __init__(self, f: Derivative, y: Leaves, time: Any, kind: Any, scaled: Callable[[Any, Any], Any]):
        self.f, self.kind, self.scaled = f, kind, scaled
        self.rates = [np.empty((len(NODES) + 1, *np.shape(x)), x.dtype) for x in y]
        self.flat = [k.reshape(len(k), -1) for k in self.rates]
        self.weights = [_tables(np.finfo(x.dtype).dtype) for x in y]
        self._put(0, self.rate(y, time))

    def rate(self, y: Leaves, time: Any) -> Leaves:
        return self.f(y, time.astype(self.kind) if isinstance(time, np.ndarray) else self.kind(time))

    def _put(self, stage: int, rates: Leaves) -> None:
        for k, x in zip(self.rates, rates, strict=True):
            k[stage] = x

    def step(self, y: Leaves, time: Any, step: Any) -> tuple[Leaves, Leaves]:
        """The state a step later, and the estimate of its error. `scaled` fits a step to a leaf."""
        steps = [self.scaled(step, x) for x in y]
        new = y
        for s, node in enumerate(NODES, 1):
            new = [
                x + h * (w[s] @ k[:s]).reshape(x.shape)
                for x, h, w, k in zip(y, steps, self.weights, self.flat, strict=True)
            ]
            self._put(s, self.rate(new, time + node * step))
        differences = [
            h * (w[0] @ k).reshape(x.shape) for x, h, w, k in zip(y, steps, self.weights, self.flat, strict=True)
        ]
        return new, differences

    def accept(self, rows: Any = slice(None)) -> None:
        """Go on from the end of the step, in these rows."""
        for k in self.rates:
            if k.ndim == 1:
                k[0] = k[-1]
            else:
                k[0, rows] = k[-1, rows]

    def start_is_finite(self, by_row: bool = False) -> Any:
        finite = [np.isfinite(k[0]) for k in self.rates]
        if by_row:
            return np.all([x.reshape(len(x), -1).all(axis=1) for x in finite], axis=0)
        return all(x.all() for x in finite)


@functools.cache
def _tables(dtype: np.dtype) -> list[np.ndarray]:
    """The weights of the error, then those of each stage, in a dtype."""
    return [np.array(weights, dtype) for weights in (ERROR, *STAGES)]


def _put(ys: Leaves, where: Any, values: Leaves) -> None:
    for out, x in zip(ys, values, strict=True):
        out[where] = x


def _by_row(h: Any, x: Any) -> Any:
    """A value a row, as it multiplies a leaf: in its real dtype, with axes of size 1 behind."""
    h = h if h.dtype == bool else h.astype(np.finfo(x.dtype).dtype)
    return h.reshape(h.shape + (1,) * (x.ndim - 1))


def _rms(x: Any) -> Any:
    n = x.size
    if n == 0:
        return 0.0
    flat = np.abs(x).reshape(n)
    return math.sqrt(flat @ flat / n)


def _rms_by_row(x: np.ndarray) -> np.ndarray:
    flat = np.abs(x).reshape(len(x), -1)
    return np.sqrt(np.mean(np.square(flat), axis=1)) if flat.shape[1] else np.zeros(len(x))


def _top(sizes: Any) -> Any:
    return np.max(sizes) if np.size(sizes) else 0.0


def _top_by_row(sizes: np.ndarray) -> np.ndarray:
    flat = sizes.reshape(len(sizes), -1)
    return flat.max(axis=1) if flat.shape[1] else np.zeros(len(sizes))


_TOPS = {_rms: _top, _rms_by_row: _top_by_row}  # what goes with either way to measure a leaf


def _scales(sizes: Leaves, accuracy: Accuracy, largest_entry: Any) -> Leaves:
    """The error that is allowed in each entry, from the moduli of the entries."""
    scales: Leaves = []
    for degree in range(max(accuracy.degrees, default=0) + 1):
        own = [s for s, d in zip(sizes, accuracy.degrees, strict=True) if d == degree]
        # more than a dtype's precision cannot be asked for
        relative = [max(accuracy.rtol, 4 * float(np.finfo(s.dtype).eps)) for s in own]
        if degree == 0:
            scales += [accuracy.atol + r * s for r, s in zip(relative, own, strict=True)]
            continue
        tops = [largest_entry(s) for s in own]
        of_all = 1e-3 * _largest(tops)  # a leaf of rounding errors alone asks for nothing
        for r, s, top in zip(relative, own, tops, strict=True):
            scale = np.maximum(r, accuracy.atol if accuracy.rtol == 0 else 0) * (top + of_all)
            scales.append(_by_row(np.where(scale > 0, scale, 1.0), s) if np.ndim(scale) else scale or 1.0)
    return scales


def _error_size(differences: Leaves, y: Leaves, new: Leaves, accuracy: Accuracy, rms: Any) -> Any:
    """The largest error of a leaf (root mean square), in units of what is allowed."""
    sizes = [np.maximum(np.abs(a), np.abs(b)) for a, b in zip(y, new, strict=True)]
    scales = _scales(sizes, accuracy, _TOPS[rms])
    return _largest([rms(d / s) for d, s in zip(differences, scales, strict=True)])


def _largest(sizes: Leaves) -> Any:
    largest = sizes[0]
    for s in sizes[1:]:
        largest = np.maximum(largest, s)
    return largest


def _factor(error: float) -> float:
    """By how much the next step may be longer, or must be shorter."""
    if error != error:
        return 0.2
    if error == 0:
        return 10.0
    return min(10.0 if error <= 1 else 1.0, max(0.2, 0.9 * error**-0.2))


def _factors(error: np.ndarray) -> np.ndarray:
    factors = np.clip(0.9 * np.where(error == 0, 1e-30, error) ** -0.2, 0.2, np.where(error <= 1, 10.0, 1.0))
    return np.where(np.isnan(error), 0.2, factors)


def _first_step(stages: _Stages, y: Leaves, time: Any, span: Any, accuracy: Accuracy, rms: Any) -> Any:
    """Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.4."""
    scales = _scales([np.abs(x) for x in y], accuracy, _TOPS[rms])
    rates = [k[0] for k in stages.rates]
    size = _largest([rms(x / s) for x, s in zip(y, scales, strict=True)])
    rate = _largest([rms(x / s) for x, s in zip(rates, scales, strict=True)])
    trial = np.where((size < 1e-5) | (rate < 1e-5), 1e-6, 0.01 * size / np.where(rate == 0, 1.0, rate))
    trial = np.minimum(np.where(np.isfinite(trial), trial, 1e-6), abs(span))
    signed = np.copysign(trial, span)
    if not isinstance(span, np.ndarray):
        signed = float(signed)
    ahead = [x + stages.scaled(signed, x) * k for x, k in zip(y, rates, strict=True)]
    later = stages.rate(ahead, time + signed)
    bend = _largest([rms((b - a) / s) for a, b, s in zip(rates, later, scales, strict=True)])
    strongest = np.maximum(rate, bend / np.where(trial == 0, 1.0, trial))
    h = np.where(strongest <= 1e-15, np.maximum(1e-6, trial * 1e-3), (0.01 / np.maximum(strongest, 1e-300)) ** 0.2)
    return np.minimum(np.minimum(np.where(np.isfinite(h), h, trial), 100 * trial), accuracy.hmax)


def _step_too_small(time: float) -> errors.AutodidaxError:
    return errors.ConvergenceError(
        f"odeint: at t = {time:.6g} no step is small enough: the solution grows without bound there, or its derivative "
        "is not continuous",
        mend="end before that time, or start anew behind a discontinuity",
    )


def _too_many_steps(accuracy: Accuracy, time: float, start: float, target: float) -> errors.AutodidaxError:
    return errors.ConvergenceError(
        f"odeint: mxstep={accuracy.mxstep:g} steps from t = {start:.6g} came to t = {time:.6g}, not to {target:.6g}",
        mend="raise mxstep, or loosen rtol and atol; a stiff system needs another method",
    )
