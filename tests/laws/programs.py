"""Seeded random programs: functions of a few arrays, made of operations drawn from tables and from the registry."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autodidax.numpy as anp
from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.lax import convert_element_type

LARGE = 4.0  # values beyond this are brought back, so that differences of the whole program mean something
SHAPES = [(), (3,), (2, 3), (3, 1), (1, 3), (2,), (3, 3), (2, 1, 3), (4,), (0,), (2, 0)]


@dataclass
class Step:
    label: str
    run: Callable[..., Any]
    operands: tuple[int, ...]


@dataclass
class Program:
    """Straight-line code: values are numbered, the inputs first, then one a step."""

    inputs: int
    steps: list[Step] = field(default_factory=list)
    results: tuple[int, ...] = ()

    def __call__(self, *xs: Any) -> list[Any]:
        values = list(xs)
        for step in self.steps:
            values.append(step.run(*[values[k] for k in step.operands]))
        return [values[k] for k in self.results]

    def __str__(self) -> str:
        lines = [f"def program({', '.join(f'v{k}' for k in range(self.inputs))}):"]
        for k, step in enumerate(self.steps, self.inputs):
            lines.append(f"    v{k} = {step.label.format(*[f'v{i}' for i in step.operands])}")
        return "\n".join([*lines, f"    return [{', '.join(f'v{k}' for k in self.results)}]"])


class Builder:
    """Grows a program, running each step on actual values to know shapes and sizes."""

    def __init__(self, rng: np.random.Generator, values: list[Any], level: int = 0):
        self.rng = rng
        self.values = list(values)
        self.program = Program(len(values))
        self.level = level  # of nesting: the bodies of loops and branches hold no loops beyond the second level
        self.exact = True  # whether its derivative is that of its values (stop_gradient's is not)
        self.narrows = False  # whether some of it computes in single precision whatever it is given

    def add(self, label: str, run: Callable[..., Any], *operands: int) -> int | None:
        """One more step, unless its value is not finite; a value that is large gets a step that makes it small."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = run(*[self.values[k] for k in operands])
        if not np.all(np.isfinite(value)):
            return None
        self.narrows |= is_low(value) and not any(is_low(self.values[k]) for k in operands)
        self.program.steps.append(Step(label, run, operands))
        self.values.append(value)
        k = len(self.values) - 1
        if is_inexact(dtype_of(value)):
            largest = float(np.max(np.abs(value), initial=0.0))
            if largest > LARGE:
                factor = float(f"{1.0 / largest:.2g}")
                return self.add(f"{{0}} * {factor}", lambda x: x * factor, k)
        return k

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def choose(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def pick(self, fits: Callable[[Any], bool] = lambda x: True) -> int | None:
        """The number of a value that fits, later ones more often."""
        found = [k for k, v in enumerate(self.values) if fits(v)]
        if not found:
            return None
        return found[-1 - min(int(self.rng.geometric(0.35)) - 1, len(found) - 1)]

    def constant(self, shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
        """A plain array that the program closes over."""
        value = self.rng.uniform(-1.5, 1.5, shape)
        if np.dtype(dtype).kind == "c":
            value = value + 1j * self.rng.uniform(-1.0, 1.0, shape)
        return np.asarray(value).astype(dtype)


def is_low(x: Any) -> bool:
    """Whether a value has less than double precision."""
    return is_inexact(dtype_of(x)) and bool(np.finfo(dtype_of(x)).eps > 1e-12)


def is_real(x: Any) -> bool:
    return dtype_of(x).kind == "f"


def is_array(x: Any) -> bool:
    return is_inexact(dtype_of(x)) and len(shape_of(x)) > 0


def weights(shape: tuple[int, ...], dtype: Any, phase: float = 0.0) -> np.ndarray:
    """Fixed numbers between -1 and 1, all different."""
    count = int(np.prod(shape))
    return np.cos(1.0 + 1.7 * np.arange(count) + phase).reshape(shape).astype(dtype)


def fitted(x: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A tame array of the given shape and dtype that depends on every entry of x."""
    if dtype_of(x).kind == "c" and np.dtype(dtype).kind != "c":
        x = anp.real(x) + 0.5 * anp.imag(x)
    total = anp.sum(anp.sin(x) * weights(shape_of(x), dtype_of(x) if is_inexact(dtype_of(x)) else np.float64))
    return convert_element_type(total, dtype) * weights(shape, dtype, 0.5) + weights(shape, dtype, 2.0)


def random_inputs(rng: np.random.Generator) -> list[Any]:
    """One to three arguments: mostly float64 arrays; now and then single precision, complex, integers, floats."""
    count = int(rng.integers(1, 4))
    kind = rng.choice(["f8", "f4", "c16", "mixed"], p=[0.72, 0.1, 0.08, 0.1])
    inputs: list[Any] = []
    for _ in range(count):
        dtype = np.dtype(rng.choice(["f8", "f4", "c16"]) if kind == "mixed" else kind)
        shape = SHAPES[int(rng.choice(len(SHAPES), p=_shape_odds()))]
        if not shape and dtype == np.float64 and rng.random() < 0.3:
            inputs.append(float(rng.uniform(-1.5, 1.5)))
            continue
        value = rng.uniform(-1.5, 1.5, shape)
        if dtype.kind == "c":
            value = value + 1j * rng.uniform(-1.0, 1.0, shape)
        inputs.append(np.asarray(value).astype(dtype)[()])
    if rng.random() < 0.25:
        inputs.append(rng.integers(0, 2, size=(3,) if rng.random() < 0.5 else ())[()])
    return inputs


def _shape_odds() -> np.ndarray:
    odds = np.array([4, 5, 5, 2, 2, 2, 3, 1, 1, 0.4, 0.4])
    return odds / odds.sum()


def random_program(rng: np.random.Generator, tables: Any) -> tuple[Builder, list[Any]]:
    """A finished builder, which holds the program and knows what differences can be expected of it; and arguments.

    `tables` is a list of (odds, operation); an operation adds steps to a builder and returns whether it did.
    """
    inputs = random_inputs(rng)
    builder = Builder(rng, inputs)
    grow(builder, tables, int(rng.integers(3, 9)))
    finish(builder)
    return builder, inputs


def grow(builder: Builder, tables: Any, operations: int) -> None:
    odds = np.array([odds for odds, _ in tables], float)
    odds /= odds.sum()
    done = 0
    for _ in range(20 * operations):
        if done == operations:
            break
        operation = tables[int(builder.rng.choice(len(tables), p=odds))][1]
        done += bool(operation(builder))


def finish(builder: Builder) -> None:
    """One or two results; now and then an input, a value twice, or a constant."""
    last = len(builder.values) - 1
    inexact = [k for k, v in enumerate(builder.values) if is_inexact(dtype_of(v))]
    results = [inexact[-1]] if inexact else [last]
    if builder.chance(0.3):
        results.append(int(builder.choose(range(len(builder.values)))))
    if builder.chance(0.03):
        kept = builder.constant((2,))
        results.append(builder.add("constant", lambda: kept) or results[0])
    # a Python scalar has no place in a batch: it would come back as an array
    builder.program.results = tuple(k for k in results if type(builder.values[k]) not in PYTHON_SCALARS) or (
        builder.add("0.5 + sin({0})", lambda x: 0.5 + np.sin(x), inexact[-1]) or last,
    )
