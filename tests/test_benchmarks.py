"""The benchmarks' workloads compute what they say: gradients against differences, each kind of derivative against
another way to it. Nothing is timed."""

import numpy as np
import pytest

import autodidax as ad
from tests.benchmarks.bars import BARS, ROWS
from tests.benchmarks.frameworks import FRAMEWORKS, autodidax, autodidax_on_numpy
from tests.benchmarks.workloads import WORKLOADS

OURS = {"anp": autodidax, "np": autodidax_on_numpy}
SCALAR_VALUED = [name for name in WORKLOADS if name != "small model"]


def as_function(workload, framework):
    """The workload as a function of its differentiated arguments, and those."""
    arguments = workload.arguments()
    n = workload.differentiated
    return (lambda *xs: workload.function(framework.namespace, *xs, *arguments[n:])), arguments[:n]


@pytest.mark.parametrize("namespace", OURS)
@pytest.mark.parametrize("name", SCALAR_VALUED)
def test_gradient_against_differences(name, namespace):
    framework, workload = OURS[namespace](), WORKLOADS[name]
    value, gradient = framework.run(workload, "value and gradient")()
    f, xs = as_function(workload, framework)
    assert value == pytest.approx(f(*xs), rel=1e-12)
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=x.shape) for x in xs]
    step = 1e-6
    moved = [f(*(x + sign * step * d for x, d in zip(xs, directions, strict=True))) for sign in (1, -1)]
    along = sum(np.sum(g * d) for g, d in zip(gradient, directions, strict=True))
    assert along == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-4)


@pytest.mark.parametrize("namespace", OURS)
@pytest.mark.parametrize("name", ["chain ()", "chain (10,)"])
def test_kinds_of_derivatives_agree(name, namespace):
    framework, workload = OURS[namespace](), WORKLOADS[name]
    run = lambda kind: framework.run(workload, kind)()
    f, (x,) = as_function(workload, framework)
    _, (gradient,) = run("value and gradient")
    np.testing.assert_allclose(run("jvp")[1], np.sum(gradient), rtol=1e-9)
    total = lambda v: np.sum(ad.grad(f)(v))
    np.testing.assert_allclose(run("second order"), ad.jvp(ad.grad(f), (x,), (np.ones_like(x),))[1], rtol=1e-9)
    third = ad.jvp(ad.grad(total), (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(run("third order"), third, rtol=1e-8)


def test_vmap_of_grad_against_the_loop():
    workload = WORKLOADS["small model"]
    weights, rows = workload.arguments()
    loop = [ad.grad(lambda w, row=row: workload.function(np, w, row))(weights) for row in rows]
    for framework in OURS.values():
        np.testing.assert_allclose(framework().run(workload, "vmap of grad")(), loop, rtol=1e-12)


def test_hessian_against_differences():
    workload = WORKLOADS["Rosenbrock 100"]
    hessian = autodidax().run(workload, "Hessian")()
    f, (x,) = as_function(workload, autodidax())
    step = 1e-5 * np.random.default_rng(0).normal(size=x.shape)
    differences = ad.grad(f)(x + step) - ad.grad(f)(x - step)
    np.testing.assert_allclose(2 * hessian @ step, differences, rtol=1e-4, atol=1e-8)


def test_bars_are_among_what_is_measured():
    for bar in BARS:
        for workload, kind, framework in (bar.numerator, bar.denominator):
            assert (workload, kind) in ROWS
            assert framework in FRAMEWORKS
