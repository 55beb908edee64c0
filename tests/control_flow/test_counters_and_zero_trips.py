"""The counter of fori_loop with bounds of any integer dtype, and the dtypes that loops of no steps return."""

import numpy as np
import pytest

from autodidax import errors, grad, jit, lax, vmap


def steps(lower, upper):
    return lax.fori_loop(lower, upper, lambda i, n: n + 1, 0)


def counted(**traced):
    """The steps of a loop with some of its bounds traced by jit."""
    return lambda **known: jit(lambda values: steps(**values, **known))(traced)


# name -> (call, number of steps)
BOUNDS = {
    "a narrow start, a traced end": (lambda: counted(upper=300)(lower=np.int8(0)), 300),
    "a traced narrow start, a known end": (lambda: counted(lower=np.int8(0))(upper=300), 300),
    "both traced, the end a Python integer": (lambda: counted(lower=np.int8(0), upper=300)(), 300),
    "both traced, the end wider": (lambda: counted(lower=np.int8(-5), upper=np.int16(300))(), 305),
    "no integer holds both": (lambda: counted(lower=np.int8(-5), upper=np.uint64(300))(), 305),
    "one dtype, to its end": (lambda: counted(lower=np.int8(-128), upper=np.int8(127))(), 255),
    "rows of ends": (lambda: vmap(lambda n: steps(np.int8(0), n))(np.array([3, 300])), [3, 300]),
    "rows of starts": (lambda: vmap(lambda k: steps(k, 300))(np.array([0, 1], np.uint8)), [300, 299]),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_counter_reaches_the_upper_bound(name):
    call, expected = BOUNDS[name]
    np.testing.assert_array_equal(call(), expected)


@pytest.mark.parametrize("start", [0, np.int64(0)], ids=["Python integer", "int64"])
def test_the_counter_of_a_known_start_keeps_the_dtype_beside_it(start):
    run = lambda n: lax.fori_loop(start, n, lambda i, x: x + i, np.float32(0))
    eager, staged = run(4), jit(run)(4)
    assert eager == staged == 6
    assert eager.dtype == staged.dtype == np.float32


# carries that no step is made from, by a body that gives Python scalars another dtype
ZERO_TRIPS = {
    "while": lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, c[1] * 0.5 * x), (0, 3)),
    "while, float32": lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0], c[1] * np.float32(2)), (0, 3.0)),
    "fori": lambda x: lax.fori_loop(0, 0, lambda i, c: c * 0.5 * x, 3),
}


@pytest.mark.parametrize("name", ZERO_TRIPS)
def test_a_loop_of_no_steps_returns_what_it_returns_under_jit(name):
    f = ZERO_TRIPS[name]
    eager, staged = np.atleast_1d(f(2.0)), np.atleast_1d(jit(f)(2.0))
    np.testing.assert_array_equal(eager, staged)
    assert eager.dtype == staged.dtype


def test_a_loop_of_no_steps_passes_gradients():
    loop = lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]
    assert grad(loop)(2.0) == jit(grad(loop))(2.0) == 1.0


def test_a_body_that_cannot_be_staged_is_not_asked():
    table = [5, 6]
    assert lax.while_loop(lambda k: k < 0, lambda k: table[k], 1) == 1
    with pytest.raises(errors.TracerIntegerConversionError):
        jit(lambda: lax.while_loop(lambda k: k < 0, lambda k: table[k], 1))()
