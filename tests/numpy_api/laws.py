"""What holds for a call on traced values, for tables of calls: one list of checks for all of them."""

import numpy as np

import autodidax
import autodidax.numpy as anp
from autodidax import tree
from tests.numpy_api.agreement import (
    assert_same,
    check_derivatives,
    check_second_derivatives,
    check_staged,
    check_vmap,
)


def plain_value(case):
    """On plain arguments the result is that of NumPy's function, and of the same type."""
    got = case.call(anp)
    assert type(got) is type(case.call(np))
    assert_same(got, case.call(np))


def traced_value(case):
    """On traced arguments too, up to rounding, through the namespace and through NumPy."""
    chosen = tuple(case.args[k] for k in case.wrt)
    zeros = tree.map(lambda x: np.zeros(np.shape(x), np.asarray(x).dtype)[()], chosen)
    for namespace in (anp, np):

        def f(*values, namespace=namespace):
            args = list(case.args)
            for k, v in zip(case.wrt, values, strict=True):
                args[k] = v
            return case.call(namespace, args)

        primal, _ = autodidax.jvp(f, chosen, zeros)
        assert_same(primal, case.call(np), exact=False)


def first_derivatives(case):
    check_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)
    check_derivatives(lambda *args: case.call(np, args), case.args, case.wrt)


def second_derivatives(case):
    check_second_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)


def mapped(case):
    check_vmap(lambda *args: case.call(anp, args), case.args, case.wrt)


def staged(case):
    check_staged(lambda *args: case.call(anp, args), case.args, case.wrt)


EAGER = (traced_value, first_derivatives, second_derivatives)
ALL = (*EAGER, mapped, staged)
