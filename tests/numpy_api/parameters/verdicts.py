"""What a traced value in a parameter leads to: a right derivative, a zero one, an error that helps; or a fault.

A verdict is four letters: forward mode, reverse mode, jit and vmap. D: the derivative is right, and not zero; 0: it is
zero, as the function's is; v: the values are right; E: an error that names the function or the parameter, and a mend;
N: NumPy's own error, of the class that a plain number in this place gives too.
"""

import re
import warnings

import numpy as np

import autodidax
import autodidax.numpy as anp
from autodidax import errors, tree
from autodidax.testing import numerical_jvp
from tests.numpy_api.parameters.slots import function, own

#: the verdicts, and the letters that the table of outcomes has for them
LETTERS = {
    "DDvv": "d",  # differentiable
    "00vv": "z",  # zero derivative, values right everywhere
    "00EE": "k",  # has to be known: fine under jvp and vjp, an error that helps under jit and vmap
    "00NN": "m",  # as before, with NumPy's own error
    "DDEE": "K",  # differentiable, where values are known
    "EEvv": "v",  # values alone: no derivative is defined
    "EEEE": "e",  # an error that helps
    "NNNN": "n",  # NumPy's own error
    "NNEE": "r",  # NumPy's own error, and one that helps under jit and vmap, where the value is not known
}


class Fault(AssertionError):
    """What must not be: a wrong number, a lost derivative, an error that does not help."""


def inexact(x):
    return not isinstance(x, np.dtype | type | str) and np.asarray(x).dtype.kind in "fc"


def direction(value, seed):
    rng = np.random.default_rng(seed)

    def draw(x):
        if not inexact(x):
            return None
        t = rng.normal(size=np.shape(x)) + (1j * rng.normal(size=np.shape(x)) if np.asarray(x).dtype.kind == "c" else 0)
        return np.asarray(t, np.asarray(x).dtype)[()]

    return tree.map(draw, value)


def same(got, want, what):
    got, want = tree.leaves(got), tree.leaves(want)
    if len(got) != len(want):
        raise Fault(f"{what}: {len(got)} results, not {len(want)}")
    for g, w in zip(got, want, strict=True):
        if not isinstance(w, np.ndarray | np.generic | int | float | complex):
            if not (g is w or g == w):
                raise Fault(f"{what}: {g!r} is not {w!r}")
            continue
        if np.asarray(g).dtype == object:
            raise Fault(f"{what}: an array of objects")
        if np.shape(g) != np.shape(w) or np.asarray(g).dtype != np.asarray(w).dtype:
            raise Fault(f"{what}: {np.asarray(g).dtype}{np.shape(g)}, not {np.asarray(w).dtype}{np.shape(w)}")
        if np.asarray(w).dtype.kind in "biufc":
            loose = np.asarray(w).dtype in (np.float32, np.complex64)
            tol = 2e-5 if loose else 1e-10
            if not np.allclose(g, w, rtol=tol, atol=tol, equal_nan=True):
                raise Fault(f"{what}: {g} is not {w}")


def good_error(slot, error, plain):
    """E or N for an error that helps, else a Fault."""
    text = "\n".join(line for line in str(error).splitlines() if not line.strip().startswith("in:"))
    short = slot.name.rpartition(".")[2]
    parameter = re.split(r"[|=]", slot.key)[0]
    if isinstance(error, errors.AutodidaxError):
        alias = getattr(function(np, slot.name), "__name__", short)  # np.acos.__name__ is "arccos"
        named = short in text or alias in text or re.search(rf"\b{re.escape(parameter)}\b", text) or slot.option in text
        if not named:
            raise Fault(f"the error names neither {short} nor {parameter}: {type(error).__name__}: {text}")
        if "mend:" not in text:
            raise Fault(f"the error has no mend: {type(error).__name__}: {text}")
        return "E"
    if isinstance(plain, Exception) and type(error) is type(plain):
        return "N"
    if isinstance(error, TypeError | ValueError) and re.search(rf"\b{parameter}\b.* (must|should) be|must be", text):
        return "N"
    if isinstance(error, TypeError | ValueError | IndexError) and "mend" in text and short in text:
        return "E"
    raise Fault(f"{type(error).__name__}: {text}")


class Trial:
    """A slot in one namespace."""

    def __init__(self, slot, namespace):
        self.slot, self.namespace = slot, namespace
        self.f = slot.user_function(namespace)[1]

    def alone(self, transform):
        """The call under a transform, where there is no plain result to compare with."""
        value = own(self.slot.value)
        if transform == "forward":
            return autodidax.jvp(self.f, (value,), (self.slot.direction,))
        if transform == "vmap":
            return autodidax.vmap(self.f)(tree.map(lambda x: np.stack([x, x]), value))
        return {"reverse": autodidax.vjp, "jit": lambda f, x: autodidax.jit(f)(x)}[transform](self.f, value)

    def forward(self):
        slot = self.slot
        t = slot.direction
        primal, tangent = autodidax.jvp(self.f, (own(slot.value),), (t,))
        same(primal, slot.result, "value in forward mode")
        return compare(tangent, slot, "forward mode")

    def reverse(self):
        slot = self.slot
        primal, pull = autodidax.vjp(self.f, own(slot.value))
        same(primal, slot.result, "value in reverse mode")
        ct = tree.map(lambda y: direction(y, 5) if inexact(y) else np.zeros(np.shape(y), autodidax.float0), primal)
        (gradient,) = pull(ct)
        got = inner(gradient, slot.direction)
        want, bound = 0.0, 1e-7
        derivative, error = slot.derivative
        for c, d, e in zip(tree.leaves(ct), tree.leaves(derivative), tree.leaves(error), strict=True):
            if np.asarray(c).dtype.kind in "fc":
                if not np.all(np.isfinite(e)):
                    return slot.letter
                want += np.sum(np.asarray(c) * np.asarray(d)).real
                bound += np.sum(np.abs(c) * e)
        loose = any(np.asarray(x).dtype in (np.float32, np.complex64) for x in tree.leaves(slot.result))
        if not abs(got - want) <= 8 * bound + (1e-4 if loose else 1e-6) * (1 + abs(want)):
            raise Fault(f"reverse mode: {got} is not {want}")
        return slot.letter

    def jit(self):
        same(autodidax.jit(self.f)(own(self.slot.value)), self.slot.result, "value under jit")
        return "v"

    def vmap(self):
        slot = self.slot
        batch = tree.map(lambda x, y: np.stack([x, y]), slot.value, slot.other)
        got = autodidax.vmap(self.f)(batch)
        if isinstance(slot.other_result, Exception):
            return "v"
        want = tree.map(lambda x, y: np.stack([x, y]), slot.result, slot.other_result)
        same(got, want, "value under vmap")
        return "v"


def inner(gradient, t):
    pairs = zip(
        tree.leaves(gradient, is_leaf=lambda x: x is None), tree.leaves(t, is_leaf=lambda x: x is None), strict=True
    )
    return sum(float(np.sum(np.asarray(g) * np.asarray(d)).real) for g, d in pairs if d is not None)


def compare(tangent, slot, what):
    derivative, error = slot.derivative
    for g, d, e, y in zip(
        tree.leaves(tangent), tree.leaves(derivative), tree.leaves(error), tree.leaves(slot.result), strict=True
    ):
        if not inexact(y):
            if np.asarray(g).dtype.kind == "f" and np.any(g):
                raise Fault(f"{what}: a tangent of integers")
            continue
        if not np.all(np.isfinite(e)):
            continue
        loose = np.asarray(y).dtype in (np.float32, np.complex64)
        bound = 8 * np.asarray(e) + (1e-4 if loose else 1e-6) * (1 + np.abs(d))
        if np.shape(g) != np.shape(d) or not np.all(np.abs(g - d) <= bound):
            raise Fault(f"{what}: {g} is not {d}")
    return slot.letter


def prepare(slot):
    """The expected results of a slot: value, derivative and its error, and those of another row for vmap."""
    slot.option = slot.key.rpartition("|")[2]
    slot.direction = direction(slot.value, 3)
    slot.other = tree.map(
        lambda x: (
            np.asarray(x * (1 + 1e-2 * np.cos(np.arange(np.size(x)).reshape(np.shape(x)))), np.asarray(x).dtype)
            if inexact(x)
            else x
        ),
        slot.value,
    )
    slot.result = slot.plain_result()
    slot.letter = "0"
    slot.derivative = None
    if isinstance(slot.result, Exception):
        return slot
    slot.other_result = slot.plain_result(slot.other)
    if slot.key != "out" and any(map(inexact, tree.leaves(slot.value))) and any(map(inexact, tree.leaves(slot.result))):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            slot.derivative = numerical_jvp(lambda v: slot.plain(own(v)), (slot.value,), (slot.direction,))
    else:
        zeros = tree.map(lambda y: np.zeros(np.shape(y)), slot.result)
        slot.derivative = zeros, zeros
    if any(np.any(np.abs(d) > 1e-9 + 8 * e) for d, e in zip(*map(tree.leaves, slot.derivative), strict=True)):
        slot.letter = "D"
    return slot


def verdict(slot, namespace):
    """The four letters of a slot in a namespace ("!" for a fault), and the faults."""
    letters, faults = "", []
    trial = Trial(slot, namespace)
    for transform in ("forward", "reverse", "jit", "vmap"):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                letters += _letter(trial, transform)
        except Fault as fault:
            letters += "!"
            faults.append(f"{transform}: {fault}")
    return letters, faults


def _letter(trial, transform):
    refused = trial.slot.result if isinstance(trial.slot.result, Exception) else None
    try:
        letter = getattr(trial, transform)() if refused is None else trial.alone(transform)
    except Fault:
        raise
    except Exception as error:
        return good_error(trial.slot, error, refused)
    if refused is not None:
        raise Fault(f"accepted, though NumPy raises {type(refused).__name__}: {refused}")
    return letter


def outcome(slot):
    """A letter each for numpy and autodidax.numpy, and the faults."""
    found, faults = "", []
    prepare(slot)
    for alias, namespace in (("np", np), ("anp", anp)):
        letters, own_faults = verdict(slot, namespace)
        found += LETTERS.get(letters, "?")
        faults += [f"{alias}.{slot} {fault}" for fault in own_faults]
        if not own_faults and letters not in LETTERS:
            faults.append(f"{alias}.{slot}: {letters}")
    return found, faults
