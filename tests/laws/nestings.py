"""Transforms as steps of a random nesting: each makes, from a function at a point, another function at a point."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autodidax as ad
import autodidax.numpy as anp
from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of, shape_of


@dataclass(frozen=True)
class Point:
    """A function of flat arrays that returns a list of arrays, and arguments to call it with.

    `over` is the point whose function this one was made from by `transform`, `settings` what the transform was given.
    """

    fun: Callable[..., list[Any]]
    xs: tuple[Any, ...]
    transform: str = "program"
    over: Any = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def active(self) -> list[int]:
        """The arguments that have a derivative."""
        return [k for k, x in enumerate(self.xs) if is_inexact(dtype_of(x))]

    def __str__(self) -> str:
        return f"{self.transform}({self.over})" if self.over is not None else self.transform


def random_like(rng: np.random.Generator, x: Any) -> Any:
    """Standard normal numbers of the shape and dtype of x; a Python scalar for a Python scalar."""
    value = rng.normal(size=shape_of(x))
    if dtype_of(x).kind == "c":
        value = value + 1j * rng.normal(size=shape_of(x))
    if type(x) in PYTHON_SCALARS:
        return value.item() if isinstance(value, np.ndarray) else type(x)(value)
    return np.asarray(value).astype(dtype_of(x))[()]


def moved(rng: np.random.Generator, x: Any, size: float = 0.02) -> Any:
    """A value near x: inexact entries scaled a little, integers permuted."""
    if type(x) in PYTHON_SCALARS:
        return type(x)(x * (1 + size * rng.normal())) if type(x) is float else x
    if is_inexact(dtype_of(x)):
        return np.asarray(x * (1 + size * rng.normal(size=shape_of(x)))).astype(dtype_of(x))[()]
    return rng.permutation(np.ravel(x)).reshape(shape_of(x)).astype(dtype_of(x))[()]


def moved_all(rng: np.random.Generator, point: Point) -> tuple[Any, ...]:
    """Arguments near those of the point, or others like them where it has some."""
    others = root(point).settings.get("others")
    if others is None:
        return tuple(moved(rng, x) for x in point.xs)
    if point.over is None and others:
        return others[int(rng.integers(len(others)))]
    # one factor for all entries keeps symmetric and triangular arguments what they are
    return tuple(scaled(rng, x) for x in point.xs)


def scaled(rng: np.random.Generator, x: Any) -> Any:
    """x times a random factor near one, integers unchanged."""
    if not is_inexact(dtype_of(x)):
        return x
    factor = 1 + 0.02 * rng.normal()
    return x * factor if type(x) in PYTHON_SCALARS else np.asarray(x * factor).astype(dtype_of(x))[()]


def root(point: Point) -> Point:
    while point.over is not None:
        point = point.over
    return point


def tangents_of(ts: Any, ys: Any) -> list[Any]:
    """The tangents of inexact values; those of integers and booleans are float0 zeros."""
    for t, y in zip(ts, ys, strict=True):
        if not is_inexact(dtype_of(y)) and (dtype_of(t) != ad.float0 or shape_of(t) != shape_of(y)):
            raise AssertionError(f"the tangent of a value of dtype {dtype_of(y)} is {t!r}")
    return only_inexact(ts, ys)


def only_inexact(values: Any, like: Any) -> list[Any]:
    return [v for v, y in zip(values, like, strict=True) if is_inexact(dtype_of(y))]


def spread(values: Any, like: Any) -> list[Any]:
    """`values` at the inexact entries of `like`, None at the others."""
    it = iter(values)
    return [next(it) if is_inexact(dtype_of(y)) else None for y in like]


def outputs(point: Point) -> list[Any]:
    return point.fun(*point.xs)


def weighted_sum(ys: Any, weights: Any) -> Any:
    """A real scalar that depends on every entry of every inexact output."""
    total = 0.0
    for y, w in zip(ys, weights, strict=True):
        if w is not None:
            total = total + anp.sum(anp.real(y * w))
    return total


def by_jvp(rng: np.random.Generator, point: Point) -> Point:
    n, fun, like = len(point.xs), point.fun, point.xs
    ts = tuple(random_like(rng, point.xs[k]) for k in point.active)

    def pushed(*args: Any) -> list[Any]:
        ys, tys = ad.jvp(fun, args[:n], tuple(spread(args[n:], like)))
        return [*ys, *tangents_of(tys, ys)]

    return Point(pushed, (*point.xs, *ts), "jvp", point)


def by_linearize(rng: np.random.Generator, point: Point) -> Point:
    n, fun, like = len(point.xs), point.fun, point.xs
    ts = tuple(random_like(rng, point.xs[k]) for k in point.active)

    def linearized(*args: Any) -> list[Any]:
        ys, push = ad.linearize(fun, *args[:n])
        return [*ys, *tangents_of(push(*spread(args[n:], like)), ys)]

    return Point(linearized, (*point.xs, *ts), "linearize", point)


def by_vjp(rng: np.random.Generator, point: Point) -> Point:
    n, fun, like = len(point.xs), point.fun, point.xs
    ys = outputs(point)
    cts = tuple(random_like(rng, y) for y in only_inexact(ys, ys))

    def pulled(*args: Any) -> list[Any]:
        out, pull = ad.vjp(fun, *args[:n])
        return [*out, *tangents_of(pull(spread(args[n:], out)), like)]

    return Point(pulled, (*point.xs, *cts), "vjp", point)


def by_grad(rng: np.random.Generator, point: Point) -> Point | None:
    fun, active = point.fun, tuple(point.active)
    ys = outputs(point)
    if not active or not only_inexact(ys, ys):
        return None
    weights = spread([random_like(rng, y) for y in only_inexact(ys, ys)], ys)

    def gradient(*xs: Any) -> list[Any]:
        value, gs = ad.value_and_grad(lambda *zs: weighted_sum(fun(*zs), weights), argnums=active)(*xs)
        return [value, *gs]

    return Point(gradient, point.xs, "grad", point, {"weights": weights})


def by_vmap(rng: np.random.Generator, point: Point, size: int | None = None) -> Point | None:
    fun = point.fun
    can = [k for k, x in enumerate(point.xs) if type(x) not in PYTHON_SCALARS]
    if not can:
        return None
    mapped = [k for k in can if rng.random() < 0.7] or [int(rng.choice(can))]
    size = int(rng.choice([0, 1, 2, 3], p=[0.04, 0.26, 0.4, 0.3])) if size is None else size
    rows = [point.xs, *(moved_all(rng, point) for _ in range(size - 1))]
    axes = [int(rng.integers(-x_rank - 1, x_rank + 1)) for x_rank in (len(shape_of(x)) for x in point.xs)]
    xs = tuple(
        np.take(np.stack([np.asarray(row[k]) for row in rows], axis=axes[k]), range(size), axis=axes[k])
        if k in mapped
        else x
        for k, x in enumerate(point.xs)
    )
    in_axes = tuple(axes[k] if k in mapped else None for k in range(len(xs)))
    out_axes = [int(rng.integers(-r - 1, r + 1)) for r in (len(shape_of(y)) for y in outputs(point))]

    def batched(*args: Any) -> list[Any]:
        return ad.vmap(fun, in_axes=in_axes, out_axes=list(out_axes))(*args)

    settings = {"in_axes": in_axes, "out_axes": out_axes, "size": size}
    return Point(batched, xs, "vmap", point, settings)


def by_jit(rng: np.random.Generator, point: Point) -> Point:
    return Point(ad.jit(point.fun), point.xs, "jit", point)


def by_checkpoint(rng: np.random.Generator, point: Point) -> Point:
    return Point(ad.checkpoint(point.fun), point.xs, "checkpoint", point)


def _jacobian(transform: str, rng: np.random.Generator, point: Point) -> Point | None:
    fun, active, xs = point.fun, tuple(point.active), point.xs
    ys = outputs(point)
    if not active or any(dtype_of(v).kind != "f" for v in (*ys, *(xs[k] for k in active))):
        return None
    if sum(int(np.prod(shape_of(v))) for v in (*ys, *xs)) > 60:
        return None

    def jacobian(*args: Any) -> list[Any]:
        blocks = getattr(ad, transform)(fun, argnums=active)(*args)
        return [block for row in blocks for block in row]

    return Point(jacobian, xs, transform, point)


def by_jacfwd(rng: np.random.Generator, point: Point) -> Point | None:
    return _jacobian("jacfwd", rng, point)


def by_jacrev(rng: np.random.Generator, point: Point) -> Point | None:
    return _jacobian("jacrev", rng, point)


PAIRED = {"jvp": by_jvp, "grad": by_vjp, "vmap": by_vmap, "jit": by_jit}
TRANSFORMS = [by_jvp, by_vjp, by_grad, by_vmap, by_jit]
RARE = [by_linearize, by_jacfwd, by_jacrev, by_checkpoint]


def random_transform(rng: np.random.Generator, point: Point) -> Point:
    """The point under one more transform, drawn at random among those that apply to it."""
    while True:
        choices = RARE if rng.random() < 0.15 else TRANSFORMS
        found = choices[int(rng.integers(len(choices)))](rng, point)
        if found is not None:
            return found
