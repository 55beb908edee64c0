"""A function with right derivative rules and wrong ones, and the makers of such cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodidax.testing import check_jvp, check_vjp, check_vmap

Args = Callable[[np.random.Generator], tuple[Any, ...]]
Rule = Callable[..., Any]
MODES = ("fwd", "rev")


@dataclass(frozen=True)
class Case:
    """What is checked: `f` at `args(rng)`, with rules in the given form; those named wrong_ are to be caught.

    With `fresh` the wrong rules are factories, called once a check. With `strict` a loss of digits counts as wrong.
    """

    name: str
    f: Callable[..., Any]
    args: Args
    jvp: Rule | None = None
    vjp: Rule | None = None
    vmap: Rule | None = None
    wrong_jvp: Rule | None = None
    wrong_vjp: Rule | None = None
    wrong_vmap: Rule | None = None
    wrong_f: Callable[..., Any] | None = None
    form: str = "flat"
    inner: str = "transpose"
    order: int = 1
    fresh: bool = False
    strict: bool = False

    def rules(self, *, wrong: bool) -> Iterator[tuple[str, Callable[..., Any], Rule]]:
        """(mode, f, rule) of each right rule, or of each wrong one."""
        for mode in ("jvp", "vjp", "vmap"):
            right, bad = getattr(self, mode), getattr(self, "wrong_" + mode)
            if not wrong and right is not None:
                yield mode, self.f, right
            elif wrong and bad is not None:
                yield mode, self.f, bad() if self.fresh else bad
            elif wrong and self.wrong_f is not None and right is not None:
                yield mode, self.wrong_f, right

    def check(self, mode: str, f: Callable[..., Any], rule: Rule, seed: int) -> Any:
        """Check one rule; returns the report, or raises CheckError."""
        xs = self.args(np.random.default_rng(seed))
        if mode == "vmap":
            return check_vmap(f, rule, xs, seed=seed)
        check = check_jvp if mode == "jvp" else check_vjp
        return check(
            f, rule, xs, form=self.form, inner=self.inner, order=self.order, seed=seed, strict=self.strict
        )  # fmt: skip


def unary(
    name: str, f: Rule, d: Rule, wrong: Rule, args: Args, modes: Sequence[str] = MODES, **options: Any
) -> Case:  # fmt: skip
    """An elementwise function of one real array, from its derivative and a wrong one."""

    def rules(d: Rule) -> tuple[Rule, Rule]:
        return (lambda x, t: t * d(x)), (lambda x, ct: ct * d(x))

    (jvp, vjp), (wrong_jvp, wrong_vjp) = rules(d), rules(wrong)
    return Case(
        name, f, args, jvp, vjp,
        wrong_jvp=wrong_jvp if "fwd" in modes else None, wrong_vjp=wrong_vjp if "rev" in modes else None, **options,
    )  # fmt: skip


def linear(name: str, f: Rule, transpose: Rule, wrong: Rule, args: Args, **options: Any) -> Case:
    """A linear function of one array, whose transpose (x, ct) -> g is wrong."""
    return Case(name, f, args, lambda x, t: f(t), transpose, wrong_vjp=wrong, **options)


def reverse(name: str, f: Rule, vjp: Rule, wrong: Rule, args: Args, **options: Any) -> Case:
    """A function of which reverse mode alone is written by hand."""
    return Case(name, f, args, vjp=vjp, wrong_vjp=wrong, **options)


def forward(name: str, f: Rule, jvp: Rule, wrong: Rule, args: Args, **options: Any) -> Case:
    """A function of which forward mode alone is written by hand."""
    return Case(name, f, args, jvp=jvp, wrong_jvp=wrong, **options)


def cotangent(name: str, mangle: Rule, args: Args | None = None, **options: Any) -> Case:
    """sin, with a cotangent that is mangled before it is used."""
    return reverse(
        name, np.sin, lambda x, ct: ct * np.cos(x), lambda x, ct: mangle(ct) * np.cos(x), args or normal(7), **options
    )


def tangent(name: str, mangle: Rule, args: Args | None = None, **options: Any) -> Case:
    """sin, with a tangent that is mangled before it is used."""
    return forward(
        name, np.sin, lambda x, t: t * np.cos(x), lambda x, t: mangle(t) * np.cos(x), args or normal(7), **options
    )


def normal(*shapes: Any) -> Args:
    """Standard normal arrays, one a shape (an integer is a length)."""
    return lambda rng: tuple(rng.standard_normal(s) for s in shapes)


def uniform(low: float, high: float, *shapes: Any) -> Args:
    return lambda rng: tuple(rng.uniform(low, high, s) for s in shapes)


def complex_normal(*shapes: Any) -> Args:
    return lambda rng: tuple(rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in shapes)


def well_conditioned(n: int, *shapes: Any) -> Args:
    """A matrix that is far from singular and from symmetric, and normal arrays."""
    return lambda rng: (rng.standard_normal((n, n)) + 3 * np.eye(n), *(rng.standard_normal(s) for s in shapes))


def positive_definite(n: int) -> Args:
    def args(rng: np.random.Generator) -> tuple[Any, ...]:
        b = rng.standard_normal((n, n))
        return (b @ b.T + n * np.eye(n),)

    return args
