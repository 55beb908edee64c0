"""Operations that hold whole programs: loops, branches, jit, custom rules, checkpoint, and transforms inside."""

from collections.abc import Callable
from typing import Any

import numpy as np

import autodidax as ad
import autodidax.numpy as anp
from autodidax import lax
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.lax import convert_element_type
from tests.laws import operations
from tests.laws.programs import Builder, Program, fitted, grow, is_real

Body = Callable[..., Any]


def _body(builder: Builder, operands: list[int]) -> tuple[Program, list[int]]:
    """A small program on these operands and on values that it closes over; those values' numbers."""
    captured = []
    if builder.chance(0.5):
        k = builder.pick(lambda x: is_inexact(dtype_of(x)))
        if k is not None and k not in operands:
            captured.append(k)
    inner = Builder(builder.rng, [builder.values[k] for k in (*operands, *captured)], builder.level + 1)
    grow(inner, TABLES if builder.level < 1 else operations.TABLES, int(builder.rng.integers(1, 4)))
    builder.exact &= inner.exact
    builder.narrows |= inner.narrows
    inner.program.results = (len(inner.values) - 1,)
    return inner.program, captured


def _indented(program: Program) -> str:
    return str(program).replace("\n", "\n        ").replace("{", "{{").replace("}", "}}")


def _closing(program: Program, captured: tuple[Any, ...]) -> Body:
    """The program's one result, as a function of its operands that closes over the captured values."""
    return lambda *xs: program(*xs, *captured)[0]


def _one_operand(builder: Builder, real: bool = False) -> int | None:
    return builder.pick(lambda x: is_real(x) if real else is_inexact(dtype_of(x)))


def _like(y: Any, x: Any) -> Any:
    """A value of x's shape and dtype that depends on x and on y."""
    return convert_element_type(0.6 * x + 0.3 * fitted(y, shape_of(x), dtype_of(x)), dtype_of(x))


def called(builder: Builder) -> bool:
    """jit, checkpoint, custom_jvp, custom_vjp of a body, with the body's own derivative for a rule."""
    k = _one_operand(builder)
    if k is None:
        return False
    program, captured = _body(builder, [k])
    wrap_name = builder.choose(list(WRAPPERS))
    wrap = WRAPPERS[wrap_name]
    if captured or builder.chance(0.5):

        def run(x: Any, *kept: Any) -> Any:
            return wrap(_closing(program, kept))(x)

    else:
        run = wrap(_closing(program, ()))
    return builder.add(f"{wrap_name}({_indented(program)})({{0}})", run, k, *captured) is not None


def _with_jvp(f: Body) -> Body:
    g = ad.custom_jvp(f)
    g.defjvp(lambda primals, tangents: ad.jvp(f, primals, tangents))
    return g


def _with_staged_jvp(f: Body) -> Body:
    g = ad.custom_jvp(f)
    g.defjvp(lambda primals, tangents: ad.jit(lambda xs, ts: ad.jvp(f, xs, ts))(primals, tangents))
    return g


def _with_vjp(f: Body) -> Body:
    g = ad.custom_vjp(f)
    g.defvjp(lambda *xs: (f(*xs), xs), lambda xs, ct: ad.vjp(f, *xs)[1](ct))
    return g


WRAPPERS: dict[str, Callable[[Body], Body]] = {
    "jit": ad.jit, "checkpoint": ad.checkpoint, "custom_jvp": _with_jvp, "custom_vjp": _with_vjp,
    "custom_jvp with a staged rule": _with_staged_jvp,
}  # fmt: skip


def branches(builder: Builder) -> bool:
    """cond on a comparison, or switch on an integer, between a body and a plain function."""
    k, j = _one_operand(builder), builder.pick(is_real)
    if k is None or j is None:
        return False
    program, captured = _body(builder, [k])
    threshold = float(builder.rng.normal() * 0.3)
    several = builder.chance(0.3)

    def run(x: Any, y: Any, *kept: Any) -> Any:
        f = _closing(program, kept)
        test = anp.sum(anp.sin(y)) > threshold
        taken = lambda z: _like(f(z), z)
        if several:
            index = convert_element_type(test, np.int64) + 1
            return lax.switch(index, [lambda z: z, taken, lambda z: z * 0.5 + anp.sin(z)], x)
        return lax.cond(test, taken, lambda z: 0.5 * z, x)

    return (
        builder.add(f"cond(sum sin {{1}} > {threshold:.3f}, {_indented(program)}, ...)({{0}})", run, k, j, *captured)
        is not None
    )


def loops(builder: Builder) -> bool:
    """scan over rows, while with a trip count from data, fori_loop, map."""
    k = _one_operand(builder)
    if k is None:
        return False
    program, captured = _body(builder, [k])
    kind = builder.choose(["scan", "reverse scan", "while", "fori", "map", "traced fori"])
    if kind == "map":
        return _mapped(builder)
    length = int(builder.rng.integers(0, 4))
    rows = builder.constant((length,), np.finfo(dtype_of(builder.values[k])).dtype)

    def run(x: Any, *kept: Any) -> Any:
        f = _closing(program, kept)
        x = convert_element_type(x, dtype_of(x))
        if kind in ("scan", "reverse scan"):
            step = lambda c, row: ((new := _like(f(c), c * (1 + 0.1 * row))), anp.sum(new) * row)
            c, ys = lax.scan(step, x, rows, reverse=kind == "reverse scan")
            return _like(ys, c)
        if kind == "fori":
            return lax.fori_loop(0, length, lambda i, c: _like(f(c) * (1 + 0.1 * i), c), x)
        if kind == "traced fori":
            n = convert_element_type(anp.sum(anp.real(x)) > 0, np.int64) + length
            return lax.fori_loop(0, n, lambda i, c: _like(f(c), c), x)
        goes_on = lambda s: (s[0] < 3) & (anp.sum(anp.real(s[1])) < 2.0)
        return lax.while_loop(goes_on, lambda s: (s[0] + 1, _like(f(s[1]), s[1])), (0, x))[1]

    return builder.add(f"{kind} {length} times of {_indented(program)} from {{0}}", run, k, *captured) is not None


def _mapped(builder: Builder) -> bool:
    """map or vmap of a body over the rows of a value."""
    k = builder.pick(lambda x: is_inexact(dtype_of(x)) and len(shape_of(x)) > 0 and shape_of(x)[0] > 0)
    if k is None:
        return False
    x = builder.values[k]
    inner = Builder(builder.rng, [x[0]], builder.level + 1)
    grow(inner, operations.TABLES, int(builder.rng.integers(1, 4)))
    inner.program.results = (len(inner.values) - 1,)
    builder.exact &= inner.exact
    builder.narrows |= inner.narrows
    program, kind = inner.program, builder.choose(["lax.map", "vmap", "vmap with psum"])
    f = _closing(program, ())
    if kind == "lax.map":
        run: Any = lambda xs: lax.map(lambda row: anp.asarray(f(row)), xs)
    elif kind == "vmap":
        run = ad.vmap(f, out_axes=-1)
    else:
        run = ad.vmap(lambda row: f(row) + 0.1 * lax.psum(anp.sum(row), "rows"), axis_name="rows")
    return builder.add(f"{kind} of {_indented(program)} over {{0}}", run, k) is not None


def solved(builder: Builder) -> bool:
    """A root or the solution of a linear system, entry by entry, whose equation holds a body."""
    k = _one_operand(builder, real=True)
    if k is None:
        return False
    program, captured = _body(builder, [k])
    kind = builder.choose(["root", "linear solve", "transposed solve"])

    def run(x: Any, *kept: Any) -> Any:
        f = _closing(program, kept)
        x = convert_element_type(x, dtype_of(x))
        wanted = anp.tanh(_like(anp.real(f(x)), x))
        if kind == "root":
            step = lambda y: y - (y + 0.2 * y * y * y - wanted) / (1 + 0.6 * y * y)
            solve = lambda _, guess: lax.fori_loop(0, 20, lambda i, y: step(y), guess)
            divide = lambda g, b: b / g(anp.ones_like(b))
            return lax.custom_root(lambda y: y + 0.2 * y * y * y - wanted, anp.zeros_like(x), solve, divide)
        scale = 1.5 + wanted
        options = {"symmetric": True} if kind == "linear solve" else {"transpose_solve": lambda vecmat, b: b / scale}
        return lax.custom_linear_solve(lambda y: scale * y, x, lambda matvec, b: b / scale, **options)

    return builder.add(f"{kind} of {_indented(program)} at {{0}}", run, k, *captured) is not None


def differentiated(builder: Builder) -> bool:
    """The gradient, or a directional derivative, of a body."""
    k = _one_operand(builder, real=True)
    if k is None:
        return False
    program, captured = _body(builder, [k])
    if not is_inexact(dtype_of(program(*[builder.values[i] for i in (k, *captured)])[0])):
        return False
    if any(dtype_of(builder.values[i]).kind == "c" for i in captured):
        return False
    kind = builder.choose(["grad", "jvp", "vjp", "linearize"])

    def run(x: Any, *kept: Any) -> Any:
        f = _closing(program, kept)
        if kind == "grad":
            return ad.grad(lambda z: anp.sum(anp.sin(anp.real(f(z)))))(x)
        if kind == "jvp":
            return ad.jvp(f, (x,), (anp.cos(x),))[1]
        if kind == "linearize":
            y, push = ad.linearize(f, x)
            return push(anp.cos(x))
        y, pull = ad.vjp(f, x)
        return pull(anp.cos(y))[0]

    return builder.add(f"{kind} of {_indented(program)} at {{0}}", run, k, *captured) is not None


TABLES = [
    *operations.TABLES, (0.8, called), (0.5, branches), (0.5, loops), (0.3, _mapped), (0.3, solved),
    (0.3, differentiated),
    (0.1, operations.stopped),
]  # fmt: skip
