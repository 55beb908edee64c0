"""The table of notes/coverage.md has every name of NumPy, and what it says of each is true."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors, tree
from autodidax.numpy import coverage
from autodidax.numpy.coverage import Kind
from tests.numpy_api import coverage_examples as examples
from tests.numpy_api.agreement import (
    assert_same,
    check_derivatives,
    check_second_derivatives,
    check_staged,
    check_vmap,
    scalar,
)

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "coverage"
NAMES = [name for module in ("", "linalg", "fft") for name in coverage.public_names(module)]
ENTRIES = {name: coverage.entry(name) for name in NAMES}
MEMBERS = {row.name: row for row in coverage.array_entries()}


def of_kind(kind, rows=ENTRIES):
    return [name for name, row in rows.items() if row.kind is kind]


EXAMPLES = examples.differentiable()
DIFFERENTIABLE = [EXAMPLES[name] for name in of_kind(Kind.DIFFERENTIABLE) if name in EXAMPLES]
SIZED = {case.name: case for case in examples.SIZED}
CONSTANT = {case.name: case for case in examples.CONSTANT}
#: where the transformed call has to have values
KNOWN = {"asarray_chkfinite", "real_if_close", "trim_zeros"}
#: NumPy refuses the arguments that jax.numpy takes
NOT_NUMPYS = {"unravel_index"}


@pytest.fixture(autouse=True)
def _old_names():
    """NumPy warns of row_stack and of matrices."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the matrix subclass", PendingDeprecationWarning)
        warnings.filterwarnings("ignore", "`row_stack`", DeprecationWarning)
        yield


# The page


def test_the_page_is_what_the_table_says():
    text = (ROOT / "notes" / "coverage.md").read_text("utf-8")
    version = re.search(r"\(of (\d+\.\d+)\)", text)[1]
    if not np.__version__.startswith(f"{version}."):
        pytest.skip(f"the page is of NumPy {version}")
    assert text == coverage.page(), "write it anew: python -m autodidax.numpy.coverage > notes/coverage.md"


def test_a_name_that_is_missing_is_noticed(monkeypatch):
    monkeypatch.setattr(np, "brand_new", lambda x: x, raising=False)
    assert "brand_new" in coverage.public_names()
    with pytest.raises(KeyError, match="brand_new"):
        coverage.page()


def test_names_in_the_table_of_constant_functions_exist():
    assert set(NAMES) >= coverage.CONSTANT
    assert set(coverage.REMARKS) | set(coverage.DIFFERENTIABLE) <= set(NAMES)


LISTS = {
    "numpy_functions": np, "numpy_ufuncs": np, "jax_numpy_functions": np, "numpy_linalg": np.linalg,
    "jax_numpy_linalg": np.linalg, "numpy_fft": np.fft, "jax_numpy_fft": np.fft,
}  # fmt: skip


@pytest.mark.parametrize("file", LISTS)
def test_every_listed_name_is_in_the_table(file):
    path = SHARED / f"{file}.txt"
    if not path.exists():
        pytest.skip("no list of names")
    before = {np: "", np.linalg: "linalg.", np.fft: "fft."}[LISTS[file]]
    missing = [name for name in path.read_text("utf-8").split() if before + name not in ENTRIES]
    assert missing == []


@pytest.mark.parametrize("file", ["numpy_ndarray_methods", "numpy_ndarray_dunders"])
def test_every_listed_member_is_in_the_table(file):
    path = SHARED / f"{file}.txt"
    if not path.exists():
        pytest.skip("no list of names")
    assert [name for name in path.read_text("utf-8").split() if name not in MEMBERS] == []


def test_all_that_others_differentiate_is_differentiable():
    path = SHARED / "numpy_diff_matrix.tsv"
    if not path.exists():
        pytest.skip("no table of what others differentiate")
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
    wanted = {name for name, *answers in rows if "yes" in answers}
    assert wanted - set(of_kind(Kind.DIFFERENTIABLE)) == set()


def test_every_name_has_an_example():
    assert set(of_kind(Kind.DIFFERENTIABLE)) - set(EXAMPLES) == set()
    assert set(of_kind(Kind.CONSTANT)) == set(CONSTANT)
    assert set(of_kind(Kind.REFUSED)) == set(examples.REFUSED)
    sized = {name for name, row in ENTRIES.items() if "`size=`" in row.remark}
    assert sized == set(SIZED)


def test_what_is_as_in_numpy_is_numpys_own():
    own = {"ndarray", "emath", "linalg", "fft", "dtypes"}  # the type of all arrays, and packages of ours
    for name in set(of_kind(Kind.PLAIN)) - own:
        assert coverage._lookup(anp, name) is coverage._lookup(np, name), name


# Differentiable


def dispatches(name):
    """Whether NumPy asks a traced argument before it does anything."""
    function = coverage._lookup(np, name)
    return isinstance(function, np.ufunc) or hasattr(function, "_implementation")


def ways(case):
    """The call through each way in: function(*args)."""
    yield "anp", lambda *args: case.call(anp, args)
    if "inplace" in case.kwargs or case.name in NOT_NUMPYS:
        return
    if dispatches(case.name):
        yield "np", lambda *args: case.call(np, args)
    member = MEMBERS.get(case.name)
    simple = type(case) is not examples.Call and isinstance(case.args[0], np.ndarray)
    if member is not None and member.kind is Kind.DIFFERENTIABLE and simple and case.name not in examples.MEMBERS:
        yield "method", lambda first, *rest: getattr(first, case.name)(*rest, **case.kwargs)


def reference(case):
    """NumPy's own result."""
    if case.name in NOT_NUMPYS:
        return case.call(anp)
    if "inplace" not in case.kwargs:
        return case.call(np)
    changed, *rest = case.args
    changed = changed.copy()
    getattr(np, case.name)(changed, *rest)
    return changed


WAYS = [(case, way, call) for case in DIFFERENTIABLE for way, call in ways(case)]
IDS = [f"{case.name}-{way}" for case, way, _ in WAYS]
EVERYWHERE = [case for case in DIFFERENTIABLE if case.name not in KNOWN | set(SIZED)]
EVERYWHERE += [case for case in examples.SIZED if case.wrt and ENTRIES[case.name].kind is Kind.DIFFERENTIABLE]


def chosen(case):
    return tuple(case.args[k] for k in case.wrt)


def of_chosen(case, call):
    """The call as a function of the arguments that are differentiated."""

    def function(*values):
        args = list(case.args)
        for k, v in zip(case.wrt, values, strict=True):
            args[k] = v
        return call(*args)

    return function


@pytest.mark.parametrize(("case", "way", "call"), WAYS, ids=IDS)
def test_value_and_dtype(case, way, call):
    points = chosen(case)
    zeros = tree.map(lambda x: np.zeros(np.shape(x), np.asarray(x).dtype)[()], points)
    primal, _ = autodidax.jvp(of_chosen(case, call), points, zeros)
    want = reference(case)
    assert_same(primal, want, exact=False)


@pytest.mark.parametrize(("case", "way", "call"), WAYS, ids=IDS)
def test_derivatives_in_both_modes(case, way, call):
    check_derivatives(call, case.args, case.wrt)


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=lambda case: case.name)
def test_the_example_has_a_derivative(case):
    function = of_chosen(case, lambda *args: scalar(case.call(anp, args)))
    gradient = autodidax.grad(function, argnums=tuple(range(len(case.wrt))))(*chosen(case))
    assert any(np.any(g) for g in tree.leaves(gradient))


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=lambda case: case.name)
def test_second_derivatives(case):
    check_second_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)


@pytest.mark.parametrize("case", EVERYWHERE, ids=repr)
def test_vmap_is_the_loop(case):
    check_vmap(lambda *args: case.call(anp, args), case.args, case.wrt)


@pytest.mark.parametrize("case", EVERYWHERE, ids=repr)
def test_jit_is_eager(case):
    check_staged(lambda *args: case.call(anp, args), case.args, case.wrt)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_what_needs_values_says_so(name):
    case = EXAMPLES[name]
    with pytest.raises(errors.ConcretizationTypeError, match="mend:"):
        autodidax.jit(of_chosen(case, lambda *args: case.call(anp, args)))(*chosen(case))


@pytest.mark.parametrize("case", [c for c in examples.SIZED if c.wrt], ids=repr)
def test_a_size_gives_the_same_derivatives(case):
    if ENTRIES[case.name].kind is Kind.DIFFERENTIABLE:
        check_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)
    check_staged(lambda *args: case.call(anp, args), case.args, case.wrt)


# Piecewise constant


def numbers(out):
    """What a result has of arrays of numbers; shapes, dtypes and texts are left out."""
    return [x for x in tree.leaves(out) if not isinstance(x, str | type | np.dtype)]


def array_arguments(case):
    return tuple(k for k, x in enumerate(case.args) if isinstance(x, np.ndarray | tuple | float) and not _is_shape(x))


def _is_shape(x):
    return isinstance(x, tuple) and all(type(n) is int for n in x)


def zero_derivatives():
    for case in examples.CONSTANT:
        if case.wrt:  # else it takes integers
            yield pytest.param(case, anp, id=f"{case.name}-anp")
            if dispatches(case.name):
                yield pytest.param(case, np, id=f"{case.name}-np")


@pytest.mark.parametrize(("case", "namespace"), list(zero_derivatives()))
def test_the_derivative_is_zero(case, namespace):
    def total(*values):
        out = of_chosen(case, lambda *args: case.call(namespace, args))(*values)
        return sum((anp.asarray(x).astype(float).sum() for x in numbers(out)), 0.0 * anp.sum(anp.array(values[0])))

    indices = tuple(range(len(case.wrt)))
    if case.name == "nextafter":
        with pytest.raises(errors.AutodidaxError, match="nextafter"):
            autodidax.grad(total, argnums=indices)(*chosen(case))
        return
    for gradient in tree.leaves(autodidax.grad(total, argnums=indices)(*chosen(case))):
        np.testing.assert_array_equal(gradient, np.zeros_like(gradient))
    zeros = tree.map(np.zeros_like, chosen(case))
    value, tangent = autodidax.jvp(total, chosen(case), tree.map(np.ones_like, zeros))
    assert tangent == 0
    np.testing.assert_array_equal(value, total(*chosen(case)))


def _rolled(x):
    return np.roll(np.asarray(x), 1)


@pytest.mark.parametrize("case", [c for c in CONSTANT.values() if c.name not in examples.NEEDS_VALUES], ids=repr)
def test_integers_and_predicates_under_vmap_and_jit(case):
    at = case.wrt or array_arguments(case)

    def call(*values):
        args = list(case.args)
        for k, v in zip(at, values, strict=True):
            args[k] = v
        return numbers(case.call(anp, args))

    rows = [tuple(case.args[k] for k in at), tuple(tree.map(_rolled, case.args[k]) for k in at)]
    want = [numbers(call(*row)) for row in rows]
    assert_same(autodidax.jit(call)(*rows[0]), want[0])
    batch = [tree.map(lambda *xs: np.stack(xs), *xs) for xs in zip(*rows, strict=True)]
    assert_same(autodidax.vmap(call)(*batch), tree.map(lambda *xs: np.stack(xs), *want))


# Refused

TRANSFORMS = {
    "grad": lambda f: autodidax.grad(lambda x: anp.sum(x) * (f(x) is not None)),
    "vmap": lambda f: lambda x: autodidax.vmap(f)(np.stack([x, x])),
    "jit": autodidax.jit,
}
REFUSALS = [
    (name, way)
    for name in examples.REFUSED
    for way in ("anp", "np")
    if way == "anp" or name not in examples.NUMPY_REFUSES
]


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(("name", "way"), REFUSALS, ids=[f"{name}-{way}" for name, way in REFUSALS])
def test_refused_with_an_alternative(name, way, transform):
    namespace = {"anp": anp, "np": np}[way]
    with pytest.raises(errors.AutodidaxError, match="mend:"):
        TRANSFORMS[transform](lambda x: examples.REFUSED[name](namespace, x))(examples.v3)


# Methods and operators

REFUSED_MEMBERS = of_kind(Kind.REFUSED, MEMBERS)


def use(x, name):
    """Whatever reaches a member of an array: its value, or a call of it."""
    if name == "__setitem__":
        x[0] = 1.0
    elif name == "__delitem__":
        del x[0]
    else:
        member = getattr(x, name)
        return member() if callable(member) else member


@pytest.mark.parametrize("transform", ["grad", "jit"])
@pytest.mark.parametrize("name", REFUSED_MEMBERS)
def test_refused_members_name_an_alternative(name, transform):
    with pytest.raises(errors.AutodidaxError, match="mend:"):
        TRANSFORMS[transform](lambda x: use(x, name))(examples.v3)


@pytest.mark.parametrize("name", examples.MEMBERS)
def test_members_are_differentiable(name):
    function, *args = examples.MEMBERS[name]
    assert MEMBERS[name].kind is Kind.DIFFERENTIABLE
    wrt = tuple(range(len(args)))
    copied = lambda *xs: function(*(x.copy() if isinstance(x, np.ndarray) else x for x in xs))
    check_derivatives(copied, args, wrt)
    check_staged(copied, args, wrt)


def test_every_differentiable_member_has_an_example():
    functions = {case.name for case, way, _ in WAYS if way == "method"}
    assert set(of_kind(Kind.DIFFERENTIABLE, MEMBERS)) - functions - set(examples.MEMBERS) == set()


@pytest.mark.parametrize("name", [n for n in of_kind(Kind.CONSTANT, MEMBERS) if not n.startswith("__")])
def test_constant_members_are_numpys(name):
    arguments = {"argpartition": (1,), "searchsorted": (0.3,)}.get(name, ())

    def member_of(x):
        member = getattr(x, name)
        return member(*arguments) if callable(member) else member

    def total(x):
        out = member_of(x)
        assert type(out) in (type(member_of(examples.v3)), type(x))
        return sum((anp.asarray(n).astype(float).sum() for n in numbers(out)), 0.0 * x[0])

    np.testing.assert_array_equal(autodidax.grad(total)(examples.v3), np.zeros(3))
    value, _ = autodidax.jvp(total, (examples.v3,), (examples.v3,))
    assert value == sum(np.sum(n).astype(float) for n in numbers(member_of(examples.v3)))


# What jax.numpy adds


@pytest.mark.parametrize("row", list(coverage.jax_entries()), ids=lambda row: row.name)
def test_names_of_jax(row):
    assert hasattr(anp, row.name) == (row.kind is Kind.PLAIN)
    assert not hasattr(np, row.name)
