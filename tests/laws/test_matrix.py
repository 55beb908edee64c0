"""Every primitive under every ordered pair of transforms, on its own samples, against a reference.

`pytest -s tests/laws/test_matrix.py -k matrix` prints the table. Its cells: the number of samples that were equal to
the loop, the eager run, differences or the other mode; `refused`: the primitive says that it has no derivative.
"""

import datetime
import os
import warnings

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
import autodidax.scipy.linalg
import autodidax.scipy.special
from autodidax import errors, lax
from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import registry
from tests.laws.laws import check
from tests.laws.nestings import PAIRED, Point

ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
TRANSFORMS = list(PAIRED)
PAIRS = [(outer, inner) for outer in TRANSFORMS for inner in TRANSFORMS]
NOT_ITS_VALUES = {"stop_gradient"}  # whose derivative is zero by definition


@ad.custom_jvp
def _with_forward_rule(x):
    return np.sin(x)


@ad.custom_vjp
def _with_backward_rule(x):
    return np.sin(x) * x


_with_forward_rule.defjvp(lambda primals, tangents: (_with_forward_rule(*primals), np.cos(primals[0]) * tangents[0]))
_with_backward_rule.defvjp(lambda x: (_with_backward_rule(x), x), lambda x, ct: (ct * (np.cos(x) * x + np.sin(x)),))


@ad.custom_jvp
def _on_the_host(x):
    return ad.pure_callback(np.sin, x, x, vmap_method="expand_dims")


_on_the_host.defjvp(lambda primals, tangents: (_on_the_host(*primals), np.cos(primals[0]) * tangents[0]))


def _told(x):
    """Twice the square of x, the factor from a callback for its effect."""
    factor = ad.io_callback(lambda v: np.int64(2), ad.ShapeDtypeStruct((), np.int64), x)
    return x * x * factor


def _seen(x):
    ad.debug.callback(lambda v: None, x)
    return np.sin(x) * x


def _of_rows(f):
    """A function with a named axis inside: the collective sees the rows."""
    return lambda x: ad.vmap(f, axis_name="rows")(x)


X = np.array([0.3, -0.8, 1.1])
#: functions that bind primitives which hold programs, and collectives, as users write them
PROGRAMS = {
    "jit": (ad.jit(lambda x: np.sin(x) * x), X),
    "checkpoint": (ad.checkpoint(lambda x: np.sin(np.exp(0.5 * x))), X),
    "cond": (lambda x: ad.jit(lambda z: lax.cond(np.sum(z) > 0.1, np.sin, lambda v: v * v, z))(x), X),
    "loop": (lambda x: lax.scan(lambda c, row: (np.sin(c) * row, c * c), x[0], x), X),
    "custom_jvp_call": (_with_forward_rule, X),
    "custom_vjp_call": (_with_backward_rule, X),
    "pure_callback": (_on_the_host, X),
    "io_callback": (_told, X),
    "debug_callback": (_seen, X),
    "psum": (_of_rows(lambda x: x * lax.psum(x * x, "rows")), X),
    "pmax": (_of_rows(lambda x: x * lax.pmax(x, "rows")), X),
    "pmin": (_of_rows(lambda x: x * lax.pmin(x, "rows")), X),
    "axis_index": (_of_rows(lambda x: x * lax.axis_index("rows")), X),
}


def points(name, count=None, offset=0):
    """The primitive as a function at each of its samples (`count` of them, from a rotating start on)."""
    p = registry[name]
    programs = []
    if name in PROGRAMS:
        f, x = PROGRAMS[name]
        programs = [Point(lambda *xs: ad.tree.leaves(f(*xs)), (x,))]
    draws = [list(p.samples(np.random.default_rng(seed))) for seed in range(3)]
    usable = [k for k, s in enumerate(draws[0]) if s.args]
    if count is not None:
        telling = [k for k in usable if _is_telling(draws[0][k])] or usable
        usable = [telling[(offset + k) % len(telling)] for k in range(min(count, len(telling)))]
    return programs + [_point(p, draws[0][k], [d[k] for d in draws[1:] if k < len(d)]) for k in usable]


def _is_telling(s):
    """Whether a sample can be mapped, has entries, and has derivatives that differences can judge."""
    arrays = [a for a in s.args if type(a) not in PYTHON_SCALARS]
    inexact = [a for a in arrays if is_inexact(dtype_of(a)) and np.size(a)]
    return bool(arrays) and not s.nonsmooth and (bool(inexact) or not any(is_inexact(dtype_of(a)) for a in s.args))


def _point(p, s, others):
    hermitian = getattr(p, "hermitian_operands", ())

    def f(*xs):
        # such operands are read in one triangle, while their derivative means changes of both
        xs = [0.5 * (x + anp.conj(anp.swapaxes(x, -1, -2))) if k in hermitian else x for k, x in enumerate(xs)]
        out = p(*xs, **s.params)
        return list(out) if p.multiple_results else [out]

    alike = [_arguments(o) for o in others if _kinds(o) == _kinds(s) and repr(o.params) == repr(s.params)]
    settings = {"exact": not s.nonsmooth and p.name not in NOT_ITS_VALUES, "others": alike, "sample": repr(s)}
    return Point(f, _arguments(s), settings=settings)


def _arguments(s):
    return tuple(a if type(a) in (*PYTHON_SCALARS, bool) else np.asarray(a)[()] for a in s.args)


def _kinds(s):
    return [(type(a), np.shape(a), dtype_of(a)) for a in _arguments(s)]


def cell(point, outer, inner, rng):
    """What a pair of transforms gives at a point: True where it could be compared, False where it does not apply, or
    the reason for which the primitive refuses."""
    try:
        inside = PAIRED[inner](rng, point)
        outside = None if inside is None else PAIRED[outer](rng, inside)
        if outside is None:
            return False
        check(outside, rng)
    except errors.NondifferentiableError:
        return "refused"
    return True


def row(name, count=None, offset=0):
    """The cells of a primitive; raises for the first that is wrong."""
    cells = {pair: [] for pair in PAIRS}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k, point in enumerate(points(name, count, offset)):
            for outer, inner in PAIRS:
                rng = np.random.default_rng((k, ROTATION))
                try:
                    cells[outer, inner].append(cell(point, outer, inner, rng))
                except Exception as e:
                    where = point.settings.get("sample", "the program")
                    raise AssertionError(f"{name}, {outer} of {inner}, sample {where}: {type(e).__name__}: {e}") from e
    return {pair: _summary(found) for pair, found in cells.items()}


def _summary(found):
    passed = sum(f is True for f in found)
    return str(passed) if passed else "refused" if "refused" in found else ""


def table(rows):
    names = [f"{outer}({inner})" for outer, inner in PAIRS]
    width = max(map(len, rows))
    head = " " * width + "  " + " ".join(f"{n:>10}" for n in names)
    lines = [f"{name:<{width}}  " + " ".join(f"{c:>10}" for c in cells.values()) for name, cells in rows.items()]
    return "\n".join([head, *lines])


def all_names():
    return [p.name for p in registry if p.module.startswith("autodidax.") and (p.checked is True or p.higher_order)]


def test_matrix_has_no_empty_cell():
    rows, wrong = {}, []
    for name in all_names():
        try:
            rows[name] = row(name, 1, ROTATION)
        except AssertionError as e:
            wrong.append(str(e))
    print("\n" + table(rows))
    assert not wrong, "\n".join(wrong)
    empty = [f"{name} {outer}({inner})" for name, cells in rows.items() for (outer, inner), c in cells.items() if not c]
    assert not empty, empty


@pytest.mark.slow
@pytest.mark.parametrize("name", all_names())
def test_all_samples(name):
    row(name)
