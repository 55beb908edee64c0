"""What can be said of a rule that is wrong: which entries of the Jacobian, and what kind of error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs
from autodidax.testing.again import Again
from autodidax.testing.comparison import entry
from autodidax.testing.numeric import pack

if TYPE_CHECKING:
    from autodidax.testing.point import Point

CLOSE = 1e-6
PLAIN = 17  # denominators of plain factors, and the factors themselves, are below it
GUESSES = 4  # arguments whose kinds of error are told
STEPS = (1e-1, 1e-2, 1e-3, 1e-4)  # of the table of numeric derivatives


def diagnose(point: Point, mode: str, ts: list[Any], worst: int | None) -> dict[str, str]:
    """Details of a failure: wrong entries and the kind of error from whole Jacobians where these are affordable, and
    how the numeric derivative of the worst entry converges."""
    details: dict[str, str] = {}
    try:
        if point.order == 1 and point.affordable():
            details = _from_jacobians(point, mode)
        if point.order == 1:
            hints = [h for h in (details.get("guess"), _other_inner(point, mode), _one_triangle(point, mode)) if h]
            details |= {"guess": "; ".join(hints)} if hints else {}
        if worst is not None:
            details["table"] = _table(point, ts, worst)
    except Exception:  # the diagnosis of what is wrong already must not hide it
        return details
    return details


def _from_jacobians(point: Point, mode: str) -> dict[str, str]:
    """Compare the rule's Jacobian with the numeric one, both in the unit directions of the inputs, scaled alike."""
    basis = list(dirs.basis(point.xs))
    estimates = [point.estimate(ts, quick=True) for ts in basis]
    want = np.array([e.value for e in estimates]).T
    error = np.array([e.error for e in estimates]).T
    if mode == "fwd":
        got = np.array([pack(point.pushed(point.xs, ts)) for ts in basis]).T
    else:
        got = np.array([_row(point, k, basis) for k in range(pack(point.ys).size)])
    known = np.isfinite(error) & ~np.array([e.kink for e in estimates]).T
    size = np.abs(want) + 0.01 * np.max(np.abs(want[known]), initial=0)
    wrong = known & ~(np.abs(got - want) <= 8 * error + 1e-12 * size)
    if not np.any(wrong):
        return {}
    steps = np.array([complex(pack(ts)[np.flatnonzero(pack(ts))[0]]) for ts in basis])
    steps = steps if np.any(steps.imag) else steps.real
    along = guess(got, want, wrong)
    got, want = got / steps, want / steps
    owners = np.array([next(k for k, t in enumerate(ts) if t is not None) for ts in basis])
    i, j = (int(v) for v in np.argwhere(wrong)[0])
    label = point.rules.label(int(owners[j]))
    inner = [int(n) for n in np.argwhere(np.asarray(basis[j][owners[j]]))[0]]
    wanted, found = (_number(v) for v in (want[i, j], got[i, j]))
    where = f"{int(wrong.sum())} of {wrong.size} entries of the Jacobian; d {entry(i, point.ys)} / d {label}"
    where += f" {inner}" * bool(inner) + f" is {wanted}, the rule says {found}"
    return {"where": where, "guess": _guess_matrix(point, got, want, wrong, owners) or along}


def _number(v: Any) -> str:
    if not np.isfinite(v):
        return "nan" if np.isnan(v) else "inf"
    v = complex(v)
    return f"{v.real:.8g}" if abs(v.imag) <= 1e-9 * abs(v) else f"{v:.8g}"


def _row(point: Point, k: int, basis: list[list[Any]]) -> np.ndarray:
    """Entry k of the rule's J t for each t: Re <ct, J t> is its real part for the cotangent 1, and the negative of its
    imaginary one for the cotangent i."""
    parts = []
    for unit in (1, 1j) if np.iscomplexobj(pack(point.ys)) else (1,):
        gs = point.pulled(point.xs, point.unit_cotangent(k, unit))
        parts.append(np.array([dirs.moving_pairing(gs, ts) for ts in basis]))
    return parts[0] if len(parts) == 1 else parts[0] - 1j * parts[1]


def _guess_matrix(point: Point, got: np.ndarray, want: np.ndarray, wrong: np.ndarray, owners: np.ndarray) -> str:
    if not np.all(np.isfinite(got[wrong])):
        return "not finite where the function is smooth"
    blamed = sorted(set(owners[np.any(wrong, axis=0)].tolist()))
    found = {k: _guess_argument(point, k, got, want, wrong, owners) for k in blamed}
    if len(set(found.values())) == 1:
        return found[blamed[0]]
    labelled = {k: (point.rules.label(k), text) for k, text in found.items() if text}
    told = [text if label in text else f"{label}: {text}" for label, text in labelled.values()]
    told = [text for text in told if "swapped" in text][:1] or told  # which is said of both
    return "; ".join(told[:GUESSES]) + f"; and {len(told) - GUESSES} more" * (len(told) > GUESSES)


def _guess_argument(
    point: Point, k: int, got: np.ndarray, want: np.ndarray, wrong: np.ndarray, owners: np.ndarray
) -> str:
    """The kind of error of one argument's columns of the Jacobian."""
    label = point.rules.label(k)
    g, w = got[:, owners == k], want[:, owners == k]
    if np.any(w) and not np.any(g):
        return f"{label} is missing: its derivative is zero"
    simple = guess(g, w, wrong[:, owners == k])
    if simple:
        return simple
    swapped = _transposed_argument(point.xs[k], w)
    if swapped is not None and _alike(g, swapped):
        return f"the cotangent of {label} is transposed"
    if g.shape[0] == g.shape[1] and _alike(g, w.T):
        return "the Jacobian is transposed"
    for m in sorted(set(owners.tolist()) - {k}):
        others_own, other = got[:, owners == m], want[:, owners == m]
        if other.shape == g.shape and _alike(g, other) and _alike(others_own, w):
            return f"{label} has the derivative of {point.rules.label(m)}: swapped arguments"
    if np.any(g != g.flat[0]) and _alike(np.sort(g, axis=None), np.sort(w, axis=None)):
        return "the right numbers in another order: a wrong axis, index or permutation"
    return ""


def _transposed_argument(x: Any, w: np.ndarray) -> np.ndarray | None:
    """The Jacobian with the last two axes of a square argument exchanged."""
    shape = shape_of(x)
    if len(shape) < 2 or shape[-1] != shape[-2] or w.shape[1] != np.size(x):
        return None
    return np.swapaxes(w.reshape(-1, *shape), -1, -2).reshape(w.shape)


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether numbers agree, beside the largest of them."""
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * float(np.max(np.abs(b), initial=0))))


def _is_plain(factor: complex) -> bool:
    """Whether a factor is one that people get wrong: a fraction of small integers, perhaps times i or 1 + i."""
    parts = [v for v in (factor.real, factor.imag) if abs(v) > CLOSE * abs(factor)]
    return all(min(abs(v * n - round(v * n)) for n in range(1, PLAIN)) < CLOSE * abs(v) < PLAIN * CLOSE for v in parts)


def _tells(w: np.ndarray, factor: complex) -> bool:
    """Whether one factor for all these numbers says something: of one number alone, each is a multiple."""
    return bool(np.any(np.abs(w - w.flat[0]) > CLOSE * np.abs(w.flat[0]))) or _is_plain(complex(factor))


def guess(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> str:
    """The kind of error, where the wrong entries leave little doubt of it."""
    g, w = got[wrong], want[wrong]
    if not g.size:
        return ""
    with np.errstate(all="ignore"):
        if np.all(np.isnan(g)):
            return "not a number"
        off = float(np.max(np.abs(g - w) / np.abs(w)))
        if off < 1e-4:
            return f"a relative error of {off:.1g}"
        if np.all(g == 0):
            return "zero"
        if _alike(g, -w):
            return "the sign is flipped"
        if np.iscomplexobj(g) and _alike(g, np.conj(w)):
            return "the conjugate"
        factor = g / w
        if np.all(np.isfinite(factor)) and _alike(factor, factor.flat[0]) and _tells(w, factor.flat[0]):
            return f"{np.real_if_close(factor.flat[0]):.10g} times what it should be"
    return ""


def _other_inner(point: Point, mode: str) -> str:
    """What to give where a hand-written reverse rule is right for the other inner product of complex values."""
    again = point.again
    if mode != "rev" or not isinstance(again, Again) or again.check != "check_vjp":
        return ""
    if not any(np.iscomplexobj(v) for v in (*point.xs, *point.ys)):
        return ""
    if _agrees(point, mode, point.ts, point.ts) or not _agrees(point, mode, point.ts, point.ts, conjugate=True):
        return ""
    inner = again.options["inner"]
    other = "adjoint" if inner == "transpose" else "transpose"
    return f'give inner="{other}": the rule agrees so, and not with inner="{inner}"'


def _one_triangle(point: Point, mode: str) -> str:
    """What to do where a function reads one triangle of a matrix, and its rule is right for symmetric ones."""
    for k, x in enumerate(point.xs):
        shape = shape_of(x)
        if len(shape) < 2 or shape[-1] != shape[-2] or point.ts[k] is None or not _reads_one_triangle(point, k):
            continue
        ts = dirs.only(point.ts, k)
        symmetric = [_symmetric(t) if i == k else t for i, t in enumerate(ts)]
        if _agrees(point, mode, ts, ts) or not _agrees(point, mode, symmetric, symmetric):
            continue
        turned = "a" + ".conj()" * np.iscomplexobj(x) + (".T" if len(shape) == 2 else ".mT")
        hint = f"the function reads one triangle of {point.rules.label(k)}, and the rule is right for symmetric changes"
        hint += f" of it: wrap the function as f((a + {turned}) / 2)"
        if not _agrees(point, mode, ts, symmetric):
            hint += f", and take the symmetric part of the rule's {'tangent' if mode == 'fwd' else 'cotangent'} too"
        return hint
    return ""


def _symmetric(t: Any) -> Any:
    """The Hermitian part of matrices."""
    return np.asarray((t + np.conj(np.swapaxes(t, -1, -2))) / 2, dtype_of(t))


def _reads_one_triangle(point: Point, k: int) -> bool:
    """Whether the entries above the diagonals of an argument make no difference to the function, or those below, while
    the others do."""
    x = np.asarray(point.xs[k])
    before = pack(point.ys)

    def same_with(part: np.ndarray) -> bool:
        xs = [x + part if i == k else v for i, v in enumerate(point.xs)]
        return bool(np.array_equal(pack(point.rules.f(xs)), before, equal_nan=True))

    change = np.asarray(0.01 * point.ts[k], x.dtype)
    return same_with(np.triu(change, 1)) != same_with(np.tril(change, -1))


def _agrees(point: Point, mode: str, ts: list[Any], along: list[Any], *, conjugate: bool = False) -> bool:
    """Whether a rule's derivative along some directions is the numeric one along others, all of which has to be known;
    with `conjugate` that of a reverse rule for the other inner product."""
    estimate = point.estimate(along)
    if not np.all(estimate.conclusive(estimate.value, point.precision)):
        return False
    close = max(CLOSE, 64 * dirs.unit_roundoff(point.xs, point.ys))
    if mode == "fwd":
        apart = np.abs(pack(point.pushed(point.xs, ts)) - estimate.value)
        return bool(np.all(apart <= 8 * estimate.error + close * np.max(np.abs(estimate.value), initial=0)))
    turn = np.conj if conjugate else np.asarray
    cts = [None if c is None else turn(c)[()] for c in point.cts]
    gs = [None if g is None else turn(g) for g in point.pulled(point.xs, cts)]
    got, own = dirs.pairing(gs, ts)
    terms = pack(point.cts) * estimate.value
    allowed = 8 * np.sum(np.abs(pack(point.cts)) * estimate.error) + close * (own + np.sum(np.abs(terms)))
    return bool(abs(got - np.sum(terms).real) <= allowed)


def _table(point: Point, ts: list[Any], k: int) -> str:
    """Central differences of entry k over the step."""
    rows = []
    for h in STEPS:
        ends = [
            pack(
                point.rules.f([x if t is None else dirs.wide(x) + s * h * t for x, t in zip(point.xs, ts, strict=True)])
            )
            for s in (1, -1)
        ]
        rows.append(f"step {h:g}: {(ends[0][k] - ends[1][k]) / (2 * h):.9g}")
    return ", ".join(rows)
