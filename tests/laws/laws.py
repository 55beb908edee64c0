"""What has to hold of a transformed function: checks that return nothing and raise LawBroken."""

import math
from typing import Any

import numpy as np

import autodidax as ad
from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from tests.laws.differences import directional_derivative
from tests.laws.nestings import (
    Point,
    by_jvp,
    moved_all,
    only_inexact,
    outputs,
    random_like,
    root,
    spread,
    weighted_sum,
)

FLOOR = 1e-2  # sizes below this are compared as if they were this: what cancels leaves rounding behind


class LawBroken(AssertionError):
    """A transformed function does not do what its definition says."""


def check(point: Point, rng: np.random.Generator, judged: list[int] | None = None) -> None:
    """The law of the outermost transform of a point; `judged` counts the entries that differences could judge."""
    got = outputs(point)
    _check_plain(point, got)
    _LAWS[point.transform](point, got, rng, judged if judged is not None else [0, 0])


def precision(point: Point, *groups: Any) -> float:
    """The machine epsilon that a point's function computes with, at worst."""
    if root(point).settings.get("narrows"):
        return float(np.finfo(np.float32).eps)
    values = [x for g in (point.xs, *groups) for x in g if is_inexact(dtype_of(x))]
    return max((float(np.finfo(dtype_of(x)).eps) for x in values), default=float(np.finfo(np.float64).eps))


def wide(x: Any) -> Any:
    """In double precision; integers as they are."""
    kind = dtype_of(x).kind
    if kind not in "fc":
        return x
    return np.asarray(x).astype(np.complex128 if kind == "c" else np.float64)[()]


def _check_plain(point: Point, got: list[Any]) -> None:
    """Results are plain arrays that may be written to and share memory with nothing."""
    plain = point.transform in ("program", "checkpoint")  # run as they are, and return what the function returns
    inputs = [x for x in point.xs if type(x) is np.ndarray]
    seen: list[np.ndarray] = []
    for k, y in enumerate(got):
        if not isinstance(y, np.ndarray | np.generic | int | float | complex | bool):
            raise LawBroken(f"{point}: output {k} is a {type(y).__name__}, no plain array")
        if type(y) is np.ndarray:
            if not plain and not y.flags.writeable:
                raise LawBroken(f"{point}: output {k} cannot be written to")
            if not plain:
                for other in (*inputs, *seen):
                    if np.shares_memory(y, other):
                        raise LawBroken(f"{point}: output {k} shares memory with an input or another output")
            seen.append(y)


def compare(point: Point, got: Any, want: Any, noise: Any = None) -> None:
    """Two lists of results: same shapes, dtypes, and values up to rounding.

    `noise` gives what the reference makes of inputs moved by one unit in the last place, for results that amplify it.
    """
    if len(got) != len(want):
        raise LawBroken(f"{point}: {len(got)} outputs instead of {len(want)}")
    for k, (y, w) in enumerate(zip(got, want, strict=True)):
        if shape_of(y) != shape_of(w) or dtype_of(y) != dtype_of(w):
            raise LawBroken(
                f"{point}: output {k} is {dtype_of(y)}{list(shape_of(y))} instead of {dtype_of(w)}{list(shape_of(w))}"
            )
        if not is_inexact(dtype_of(w)):
            if not np.array_equal(y, w):
                raise LawBroken(f"{point}: output {k} is {y!r} instead of {w!r}")
            continue
        eps = precision(point, [w])
        if close(y, w, 1e4 * eps):
            continue
        spread_of = _noise(noise, k, w) if noise is not None else 0.0
        if not close(y, w, min(100 * spread_of + 1e4 * eps, 1e5 * math.sqrt(eps) * 1e-3)):
            raise LawBroken(f"{point}: output {k} is\n{y!r}\ninstead of\n{w!r}")


def close(got: Any, want: Any, tolerance: float) -> bool:
    """Whether two arrays agree to a tolerance relative to their largest finite entry; nan and inf agree in place."""
    got, want = np.asarray(wide(got)), np.asarray(wide(want))
    finite = np.isfinite(want)
    if not np.array_equal(finite, np.isfinite(got)):
        return False
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return False
    scale = max(float(np.max(np.abs(want[finite]), initial=0.0)), FLOOR)
    return bool(np.all(np.abs(got[finite] - want[finite]) <= tolerance * scale))


def _noise(reference: Any, k: int, want: Any) -> float:
    """How much output k of the reference moves, relative to its size, with its inputs."""
    scale = max(float(np.max(np.abs(want), initial=0.0)), FLOOR)
    with np.errstate(all="ignore"):
        apart = np.abs(np.asarray(wide(reference()[k])) - np.asarray(wide(want)))
    return float(np.max(apart[np.isfinite(apart)], initial=0.0)) / scale


def nudged(rng: np.random.Generator, xs: Any) -> list[Any]:
    """Inexact arguments moved by one unit in the last place."""
    out = []
    for x in xs:
        if is_inexact(dtype_of(x)) and type(x) not in PYTHON_SCALARS:
            signs = rng.choice([-1.0, 1.0], size=shape_of(x))
            x = np.asarray(x * (1 + signs * float(np.finfo(dtype_of(x)).eps))).astype(dtype_of(x))[()]
        out.append(x)
    return out


def _same_as_eager(point: Point, got: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    plain = point.over.fun
    compare(point, got, plain(*point.xs), lambda: plain(*nudged(rng, point.xs)))
    near = moved_all(rng, point.over)  # the program was cached: nothing of the first call may be left in it
    compare(point, point.fun(*near), plain(*near), lambda: plain(*nudged(rng, near)))


def _loop(point: Point, got: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    size, in_axes, out_axes = (point.settings[name] for name in ("size", "in_axes", "out_axes"))

    def rows(xs: Any) -> list[Any]:
        if size == 0:
            like = outputs(point.over)
            return [np.take(np.stack([y], axis), range(0), axis) for y, axis in zip(like, out_axes, strict=True)]
        results = []
        for i in range(size):
            row = [x if ax is None else np.take(x, i, axis=ax) for x, ax in zip(xs, in_axes, strict=True)]
            results.append(point.over.fun(*[np.asarray(x)[()] if type(x) is np.ndarray else x for x in row]))
        return [np.stack([np.asarray(r[k]) for r in results], axis=axis) for k, axis in enumerate(out_axes)]

    compare(point, got, rows(point.xs), lambda: rows(nudged(rng, point.xs)))


def _forward(point: Point, got: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    over, n = point.over, len(point.over.xs)
    want = outputs(over)
    ys, tys = got[: len(want)], got[len(want) :]
    compare(point, ys, want, lambda: over.fun(*nudged(rng, over.xs)))
    like = only_inexact(want, want)
    if len(tys) != len(like):
        raise LawBroken(f"{point}: {len(tys)} tangents of {len(like)} inexact outputs")
    for k, (t, y) in enumerate(zip(tys, like, strict=True)):
        if shape_of(t) != shape_of(y) or dtype_of(t) != dtype_of(y):
            raise LawBroken(f"{point}: tangent {k} is {dtype_of(t)}{list(shape_of(t))} for an output"
                            f" {dtype_of(y)}{list(shape_of(y))}")  # fmt: skip
    # linear in the tangents
    xs, ts = point.xs[:n], point.xs[n:]
    others = [random_like(rng, t) for t in ts]
    combined = [_times(0.5, a) + _times(-0.25, b) for a, b in zip(ts, others, strict=True)]
    t_others = point.fun(*xs, *others)[len(want) :]
    t_combined = point.fun(*xs, *combined)[len(want) :]
    sums = [np.asarray(0.5 * a - 0.25 * b).astype(dtype_of(a))[()] for a, b in zip(tys, t_others, strict=True)]
    size = [np.maximum(np.max(np.abs(wide(a)), initial=0), np.max(np.abs(wide(b)), initial=0))
            for a, b in zip(tys, t_others, strict=True)]  # fmt: skip
    for k, (a, b, s) in enumerate(zip(t_combined, sums, size, strict=True)):
        if np.all(np.isfinite(b)) and not np.all(
            np.abs(wide(a) - wide(b)) <= 1e5 * precision(point, [a]) * max(float(s), FLOOR)
        ):
            raise LawBroken(f"{point}: tangent {k} is not linear: {a!r} for a combination that gives {b!r}")
    if point.transform == "linearize":
        _, again = _split_at(by_jvp_of(over)(*point.xs), len(want))
        compare(point, tys, again, lambda: by_jvp_of(over)(*nudged(rng, point.xs))[len(want) :])
    elif depth(point) <= 2:
        _differences(point, tys, rng, judged)


def _times(factor: float, t: Any) -> Any:
    return t * factor if type(t) in PYTHON_SCALARS else np.asarray(t * dtype_of(t).type(factor))[()]


def _split_at(values: list[Any], n: int) -> tuple[list[Any], list[Any]]:
    return values[:n], values[n:]


def by_jvp_of(point: Point) -> Any:
    """The jvp of a point's function, as a function of points and tangents."""
    return by_jvp(np.random.default_rng(0), point).fun


def depth(point: Point) -> int:
    return 0 if point.over is None else 1 + depth(point.over)


def _differences(point: Point, tys: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    """The tangents against central differences of the function below, in double precision."""
    over, n = point.over, len(point.over.xs)
    settings = root(point).settings
    if settings.get("exact") is False or settings.get("narrows"):
        return
    xs = [wide(x) for x in point.xs[:n]]
    ts = spread([wide(t) for t in point.xs[n:]], point.xs[:n])
    low = precision(point, tys) > 1e-12
    got = tys
    estimates = directional_derivative(over.fun, xs, ts)
    for k, (t, (value, error, known)) in enumerate(zip(got, estimates, strict=True)):
        t = np.asarray(wide(t))
        scale = max(float(np.max(np.abs(value[known]), initial=0.0)), 1e-6)
        tolerance = 10 * error + (3e-2 if low else 1e-6) * scale
        judged[0] += int(known.sum())
        judged[1] += known.size
        with np.errstate(invalid="ignore"):
            wrong = known & ~(np.abs(t - value) <= tolerance)
        if np.any(wrong):
            raise LawBroken(f"{point}: tangent {k} is\n{t!r}\nbut differences give\n{value!r}\n(wrong: {wrong!r})")


def _adjoint(point: Point, got: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    over, n = point.over, len(point.over.xs)
    want, cts = outputs(over), list(point.xs[n:])
    ys, gs = got[: len(want)], got[len(want) :]
    compare(point, ys, want, lambda: over.fun(*nudged(rng, over.xs)))
    _check_gradients(point, gs)

    def again() -> Any:
        xs = nudged(rng, point.xs)
        return xs, point.fun(*xs)[len(want) :]

    _pair(point, over, cts, gs, again, rng)
    # linear in the cotangents
    doubled = point.fun(*point.xs[:n], *[_times(2.0, c) for c in cts])[len(want) :]
    compare(point, doubled, [_times(2.0, g) for g in gs])


def _gradient(point: Point, got: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    over, weights = point.over, point.settings["weights"]
    value, gs = got[0], got[1:]
    want = weighted_sum(outputs(over), weights)
    compare(point, [value], [np.asarray(want)[()] if type(want) is np.ndarray else want],
            lambda: [weighted_sum(over.fun(*nudged(rng, over.xs)), weights)])  # fmt: skip
    _check_gradients(point, gs)
    cts = [w for w in weights if w is not None]

    def again() -> Any:
        xs = nudged(rng, point.xs)
        return [*xs, *cts], point.fun(*xs)[1:]

    _pair(point, over, cts, gs, again, rng)


def _check_gradients(point: Point, gs: list[Any]) -> None:
    over = point.over
    like = [over.xs[k] for k in over.active]
    for k, (g, x) in enumerate(zip(gs, like, strict=True)):
        if shape_of(g) != shape_of(x) or dtype_of(g) != dtype_of(x):
            raise LawBroken(
                f"{point}: gradient {k} is {dtype_of(g)}{list(shape_of(g))}, its input {dtype_of(x)}{list(shape_of(x))}"
            )


def _pair(point: Point, over: Point, cts: list[Any], gs: list[Any], again: Any, rng: np.random.Generator) -> None:
    """<ct, J t> = <J^T ct, t>, the plain transpose; real parts, since a real operand takes a real part."""
    ts = [random_like(rng, over.xs[k]) for k in over.active]
    count = len(outputs(over))
    push = by_jvp_of(over)

    def sides(xs: Any, cts: Any, gs: Any) -> tuple[float, float, float]:
        tys = push(*xs, *ts)[count:]
        forward = [np.asarray(wide(c)) * np.asarray(wide(t)) for c, t in zip(cts, tys, strict=True)]
        reverse = [np.asarray(wide(g)) * np.asarray(wide(t)) for g, t in zip(gs, ts, strict=True)]
        size = sum(float(np.sum(np.abs(v))) for v in (*forward, *reverse))
        return sum(float(np.sum(v).real) for v in forward), sum(float(np.sum(v).real) for v in reverse), size

    n = len(over.xs)
    forward, reverse, size = sides(over.xs, cts, gs)
    eps = precision(point, gs, outputs(over))
    if not (math.isfinite(forward) and math.isfinite(reverse)):
        # a nan in one mode is allowed a zero times inf in the other, at singular points alone
        if math.isfinite(forward) != math.isfinite(reverse):
            raise LawBroken(f"{point}: forward mode gives {forward}, reverse mode {reverse}")
        return
    if abs(forward - reverse) <= 1e3 * eps * max(size, FLOOR):
        return
    moved_xs, moved_gs = again()
    f, r, _ = sides(moved_xs[:n], moved_xs[n:] or cts, moved_gs)
    noise = abs(f - forward) + abs(r - reverse)
    if abs(forward - reverse) > min(100 * noise, 1e2 * math.sqrt(eps) * max(size, FLOOR)):
        raise LawBroken(f"{point}: forward mode gives {forward!r}, reverse mode {reverse!r} (size {size:.3g})")


def _jacobian(point: Point, got: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    """The Jacobian times tangents is the jvp."""
    over = point.over
    ys, active = outputs(over), over.active
    ts = [random_like(rng, over.xs[k]) for k in active]
    tys = by_jvp_of(over)(*over.xs, *ts)[len(ys) :]
    blocks = iter(got)
    for k, (y, ty) in enumerate(zip(ys, tys, strict=True)):
        total = np.zeros(shape_of(y))
        for a, t in zip(active, ts, strict=True):
            block = next(blocks)
            shape = (*shape_of(y), *shape_of(over.xs[a]))
            if shape_of(block) != shape:
                raise LawBroken(f"{point}: block {k}, {a} has shape {shape_of(block)} instead of {shape}")
            total = total + np.tensordot(np.asarray(wide(block)), np.asarray(wide(t)), axes=len(shape_of(t)))
        eps = precision(point, ys, [ty])
        if np.all(np.isfinite(np.asarray(ty))) and not close(total, wide(ty), 1e5 * eps):
            raise LawBroken(f"{point}: the Jacobian of output {k} times a tangent is\n{total!r}\nthe jvp\n{ty!r}")


def _program(point: Point, got: list[Any], rng: np.random.Generator, judged: list[int]) -> None:
    """The function itself, with its staged types."""
    avals = ad.eval_shape(lambda *xs: point.fun(*xs), *point.xs)
    for k, (aval, y) in enumerate(zip(avals, got, strict=True)):
        if aval.shape != shape_of(y) or aval.dtype != dtype_of(y):
            raise LawBroken(f"{point}: output {k} is {dtype_of(y)}{list(shape_of(y))}, staged {aval}")


_LAWS = {
    "program": _program, "jit": _same_as_eager, "checkpoint": _same_as_eager, "vmap": _loop, "jvp": _forward,
    "linearize": _forward, "vjp": _adjoint, "grad": _gradient, "jacfwd": _jacobian, "jacrev": _jacobian,
}  # fmt: skip
