"""Hand-written derivative rules of any origin, in the forms that people write them in, as the checker's Rules.

A rule is asked for values only, never for a tracer, so that one of another framework can be tested. Two inner
products are in use for complex values: the plain transpose, Re sum(g * y), of this package and JAX; and the adjoint,
Re sum(conj(g) * y), of autograd and PyTorch. The adjoint's cotangents are the conjugates of the transpose's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.interpreters import Tracer, dtype_of
from autodidax.testing.report import raised
from autodidax.testing.rules import Rules, StructureMismatch, flat_function, none_for_float0

FORMS = ("pullback", "flat")
INNERS = ("transpose", "adjoint")


def rules_of(
    name: str,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    *,
    f_jvp: Callable[..., Any] | None = None,
    f_vjp: Callable[..., Any] | None = None,
    form: str = "pullback",
    inner: str = "transpose",
) -> tuple[Rules, list[Any]]:
    """The rules of `f` at `args` in the checker's form, and the flat values of `args`."""
    if form not in FORMS or inner not in INNERS:
        what, given, known = ("form", form, FORMS) if form not in FORMS else ("inner", inner, INNERS)
        raise errors.ArgumentError(f"{what} is {given!r}", mend=f"give {' or '.join(map(repr, known))}")
    _, xs, labels = flat_function(f, args)
    treedef = tree.structure(args)
    own = _Function(f, treedef)
    other = FORMS[1 - FORMS.index(form)]
    jvp = vjp = None
    if f_jvp is not None:
        jvp = _hinting(_forward(own, f_jvp, treedef, form), _forward(own, f_jvp, treedef, other), form, other)
    if f_vjp is not None:
        in_form, in_other = (_reverse(own, f_vjp, treedef, kind, inner) for kind in (form, other))
        vjp = _hinting(in_form, lambda xs: _pulled(in_other, xs), form, other)
    return Rules(name, own.flat, jvp, vjp, labels), xs


def _hinting(rule: Any, in_other_form: Callable[..., Any], form: str, other: str) -> Any:
    """A rule in one form, that says where it cannot be used so and can be in the other."""

    def told(error: Exception, args: Sequence[Any]) -> Exception:
        try:
            with np.errstate(all="ignore"):
                in_other_form(*args)
        except Exception:  # whatever it is, it is none of that form either
            return error
        what = str(error) if isinstance(error, StructureMismatch) else f"it raised {raised(error)}"
        return StructureMismatch(f'{what}\n  give form="{other}": the rule works so, and not in form="{form}"')

    def run(*args: Any) -> Any:
        try:
            result = rule(*args)
        except (StructureMismatch, TypeError, ValueError, IndexError, AttributeError) as e:
            explained = told(e, args)
            raise explained from (None if explained is e else e)
        if len(args) > 1:  # a forward rule, which is done
            return result
        ys, pull = result

        def pulled(cts: list[Any]) -> list[Any]:
            try:
                return pull(cts)
            except (StructureMismatch, TypeError, ValueError, IndexError, AttributeError) as e:
                explained = told(e, args)
                raise explained from (None if explained is e else e)

        return ys, pulled

    return run


def _pulled(rule: Callable[..., Any], xs: list[Any]) -> list[Any]:
    """The result of a reverse rule for the cotangent 1 of every output; raises where it is none for the arguments."""
    ys, pull = rule(xs)
    gs = pull([np.ones_like(y) for y in ys])
    if any(g is not None and np.shape(g) != np.shape(x) for g, x in zip(gs, xs, strict=True)):
        raise StructureMismatch("cotangents of other shapes")
    return gs


class _Function:
    """A function of trees, also as one of flat values, that remembers the structure of its last result."""

    def __init__(self, f: Callable[..., Any], treedef: tree.PyTreeDef):
        self.f, self.treedef = f, treedef
        self.structure: tree.PyTreeDef | None = None

    def __call__(self, *args: Any) -> Any:
        return self.f(*args)

    def flat(self, zs: list[Any]) -> list[Any]:
        ys, self.structure = tree.flatten(self.f(*self.treedef.unflatten(zs)))
        return ys

    def check_primal(self, y: Any) -> None:
        """Raise where a rule's primal output is not of the structure of the function's result."""
        if self.structure is not None and any(v is None for v in _like(y, self.structure, "the primal output")):
            raise StructureMismatch(f"the primal output is {_described(y)}, where {in_words(self.structure)} is due")


def _forward(f: _Function, f_jvp: Callable[..., Any], treedef: tree.PyTreeDef, form: str) -> Any:
    def push(points: list[Any], ts: list[Any]) -> tuple[list[Any], list[Any]]:
        primals = tuple(treedef.unflatten(points))
        tangents = tuple(treedef.unflatten([np.zeros_like(x) if t is None else t
                                            for x, t in zip(points, ts, strict=True)]))  # fmt: skip
        if form == "flat":
            y = f(*primals)
            ty = f_jvp(*primals, *tangents)
        else:
            y, ty = _pair(f_jvp(primals, tangents), "f_jvp", "(y, tangent of y)")
            f.check_primal(y)
        return tree.leaves(y), none_for_float0(_like(ty, tree.structure(y), "the tangent"))

    return push


def _reverse(f: _Function, f_vjp: Callable[..., Any], treedef: tree.PyTreeDef, form: str, inner: str) -> Any:
    def rule(points: list[Any]) -> tuple[list[Any], Callable[[list[Any]], list[Any]]]:
        args = tuple(treedef.unflatten(points))
        if form == "flat":
            y, pullback = f(*args), lambda ct: f_vjp(*args, ct)
        else:
            y, pullback = _pair(f_vjp(*args), "f_vjp", "(y, pullback)")
            f.check_primal(y)
        ys, out_tree = tree.flatten(y)

        def pull(cts: list[Any]) -> list[Any]:
            given = [np.zeros_like(v) if c is None else c for c, v in zip(cts, ys, strict=True)]
            turned = [_conjugate(c) for c in given] if inner == "adjoint" else given
            kept = [np.array(c) if type(c) is np.ndarray else c for c in turned]
            gs = _spread(pullback(out_tree.unflatten(turned)), treedef)
            for own, passed, before in zip(given, turned, kept, strict=True):
                # what a rule does to the conjugate that it was given, it does to the cotangent
                if (
                    passed is not own
                    and type(passed) is np.ndarray
                    and not np.array_equal(passed, before, equal_nan=True)
                ):
                    own[...] = np.conj(passed)
            return [g if g is None or inner != "adjoint" else _conjugate(g) for g in none_for_float0(gs)]

        return ys, pull

    return rule


def _conjugate(g: Any) -> Any:
    """The conjugate of a complex value; a real one itself, so that what a rule does to it can be seen."""
    return np.conj(g) if dtype_of(g).kind == "c" else g


def _pair(result: Any, rule: str, wanted: str) -> tuple[Any, Any]:
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise StructureMismatch(f"{rule} returned {_described(result)}, not the pair {wanted}")
    return result[0], result[1]


def _like(t: Any, structure: tree.PyTreeDef, what: str) -> list[Any]:
    """Leaves of a tree, None included, which has to be of a known structure."""
    same = _matched(t, structure)
    if same is not None:
        return same
    leaves, own = tree.flatten(t, is_leaf=lambda x: x is None)
    if own != structure and isinstance(t, list):
        leaves, own = tree.flatten(tuple(t), is_leaf=lambda x: x is None)
    if own != structure and not (len(leaves) == structure.num_leaves == 1 and tree.all_leaves([t])):
        raise StructureMismatch(f"{what} is {_described(t)}, where {in_words(structure)} is due")
    return leaves


def _matched(t: Any, structure: tree.PyTreeDef) -> list[Any] | None:
    """Leaves of a tree where None stands for a zero, or for a None of the structure."""
    own = tree.structure(t)
    return tree.leaves(t) if own == structure else None


def _spread(gs: Any, treedef: tree.PyTreeDef) -> list[Any]:
    """Leaves of the cotangents, one an argument, where None stands for a whole argument's zero."""
    children = treedef.children()
    if len(children) == 1 and not (isinstance(gs, tuple | list) and len(gs) == 1):
        gs = (gs,)  # of one argument, its cotangent alone
    if not isinstance(gs, tuple | list) or len(gs) != len(children):
        raise StructureMismatch(f"the rule returned {_described(gs)} for {len(children)} arguments")
    out: list[Any] = []
    for k, (g, sub) in enumerate(zip(gs, children, strict=True)):
        out += [None] * sub.num_leaves if g is None else _like(g, sub, f"the cotangent of argument {k}")
    return out


def _described(value: Any) -> str:
    """What a value is, in words."""
    return "None" if value is None else in_words(tree.structure(value, is_leaf=lambda x: x is None), [value])


def in_words(structure: tree.PyTreeDef, leaves: Sequence[Any] = ()) -> str:
    """A structure in words: "a list of 2 arrays", "a dict of 'a': an array, 'b': a tuple of 3 arrays".

    With a leaf given, an outermost leaf is called by its own type.
    """
    data = structure.node_data()
    if data is None:
        kind = type(leaves[0]) if leaves else np.ndarray
        number = kind in (float, complex, int, bool) or (issubclass(kind, np.generic) and kind is not np.ndarray)
        known = number or kind is np.ndarray or issubclass(kind, Tracer)
        name = "number" if number else "array" if known else kind.__name__
        return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
    cls, keys = data
    children = structure.children()
    name = f"a {cls.__name__}"
    if not children:
        return "None" if cls is type(None) else f"an empty {cls.__name__}"
    if not isinstance(keys, list | tuple) and all(c.node_data() is None for c in children):
        return f"{name} of {len(children)} array{'s' * (len(children) != 1)}"
    labels = [f"{key!r}: " for key in keys] if isinstance(keys, list | tuple) else [""] * len(children)
    parts = [label + in_words(c) for label, c in zip(labels, children, strict=False)]
    return f"{name} of {', '.join(parts)}"
