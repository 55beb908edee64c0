"""The workloads, each written once over a NumPy-like namespace `np` that a framework supplies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

CHAIN_LENGTH = 100
LORENZ_STEPS = 200


@dataclass(frozen=True)
class Workload:
    """`function(np, *arguments)` is differentiated in its first `differentiated` arguments."""

    name: str
    function: Callable[..., Any]
    arguments: Callable[[], tuple[numpy.ndarray, ...]]
    differentiated: int = 1


def chain(np: Any, x: Any) -> Any:
    """The sum of 100 cheap operations in a row."""
    return _chain(np, x, CHAIN_LENGTH)


def short_chain(np: Any, x: Any) -> Any:
    """The sum of 20 cheap operations in a row."""
    return _chain(np, x, 20)


def _chain(np: Any, x: Any, length: int) -> Any:
    y = x
    for _ in range(length // 4):
        y = np.tanh(np.sin(y * x + 0.3))
    return np.sum(y)


def chain_argument(*shape: int) -> Callable[[], tuple[numpy.ndarray, ...]]:
    return lambda: (numpy.asarray(numpy.random.default_rng(0).uniform(-0.5, 1.5, shape)),)


def lorenz(np: Any, parameters: Any, start: Any) -> Any:
    """Squared norm of the state of the Lorenz system after 200 steps of Runge-Kutta, in a Python loop."""

    def slope(state: Any) -> Any:
        x, y, z = state[0], state[1], state[2]
        return np.stack([parameters[0] * (y - x), x * (parameters[1] - z) - y, x * y - parameters[2] * z])

    step = 0.005
    state = start
    for _ in range(LORENZ_STEPS):
        k1 = slope(state)
        k2 = slope(state + 0.5 * step * k1)
        k3 = slope(state + 0.5 * step * k2)
        k4 = slope(state + step * k3)
        state = state + (step / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(state * state)


def lorenz_arguments() -> tuple[numpy.ndarray, ...]:
    return numpy.array([10.0, 28.0, 8.0 / 3.0]), numpy.ones(3)


def small_model(np: Any, weights: Any, row: Any) -> Any:
    """Squared norm of one tanh layer of a row."""
    return np.sum(np.tanh(np.matmul(weights, row)) ** 2)


def small_model_arguments() -> tuple[numpy.ndarray, ...]:
    rng = numpy.random.default_rng(1)
    return rng.normal(size=(16, 16)), rng.normal(size=(64, 16))


def rosenbrock(np: Any, x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def gaussian_process(np: Any, log_scales: Any, log_height: Any, log_noise: Any, x: Any, y: Any, eye: Any) -> Any:
    """Negative log-likelihood, up to a constant, of a Gaussian process with a squared exponential kernel."""
    n = x.shape[0]
    scaled = x / np.exp(log_scales)
    norms = np.sum(scaled * scaled, axis=1)
    distances = (
        np.reshape(norms, (n, 1)) + np.reshape(norms, (1, n)) - 2.0 * np.matmul(scaled, np.swapaxes(scaled, 0, 1))
    )
    kernel = np.exp(2.0 * log_height) * np.exp(-0.5 * distances) + (np.exp(2.0 * log_noise) + 1e-6) * eye
    factor = np.cholesky(kernel)
    whitened = np.solve_lower(factor, y)
    return 0.5 * np.sum(whitened * whitened) + np.sum(np.log(np.diagonal(factor)))


def gaussian_process_arguments() -> tuple[numpy.ndarray, ...]:
    rng = numpy.random.default_rng(2)
    n = 300
    x = rng.normal(size=(n, 3))
    y = numpy.sin(x.sum(axis=1)) + 0.1 * rng.normal(size=n)
    return numpy.zeros(3), numpy.asarray(0.1), numpy.asarray(-1.5), x, y, numpy.eye(n)


WORKLOADS = {
    w.name: w
    for w in (
        Workload("chain ()", chain, chain_argument()),
        Workload("chain (10,)", chain, chain_argument(10)),
        Workload("chain (1000,)", chain, chain_argument(1000)),
        Workload("Lorenz", lorenz, lorenz_arguments),
        Workload("small model", small_model, small_model_arguments),
        Workload("Rosenbrock 100", rosenbrock, lambda: (numpy.random.default_rng(3).normal(size=100),)),
        Workload("pointwise 1e6", short_chain, chain_argument(1_000_000)),
        Workload("GP 300", gaussian_process, gaussian_process_arguments, 3),
    )
}
