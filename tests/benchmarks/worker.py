"""A process that has loaded one framework and times what it is asked to, a line of JSON a request."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.frameworks import FRAMEWORKS
from tests.benchmarks.workloads import WORKLOADS

SHORTEST = 0.01  # seconds that a sample lasts at least


def serve(framework: str) -> None:
    """Answer requests on standard input until it closes; what a framework prints goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    made = FRAMEWORKS[framework][1]()
    ready: dict[tuple[str, str], Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request["task"] == "overhead":
            answer: Any = overheads()
        else:
            key = request["workload"], request["kind"]
            if key not in ready:
                ready[key] = _calibrated(made.run(WORKLOADS[key[0]], key[1]))
            answer = None if ready[key] is None else sample_times(*ready[key], request["samples"])
        print(json.dumps(answer), file=answers, flush=True)


def _calibrated(run: Callable[[], Any] | None) -> tuple[Callable[[], Any], int] | None:
    """The computation, warmed up, and how often to repeat it in a sample."""
    if run is None:
        return None
    run()
    return run, max(1, int(SHORTEST / max(_time(run, 1), 1e-7)))


def _time(run: Callable[[], Any], repeats: int) -> float:
    """CPU seconds of one call: on a shared machine they vary less than the clock, and with one thread they are it."""
    start = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - start) / repeats


def sample_times(run: Callable[[], Any], repeats: int, samples: int) -> list[float]:
    return [_time(run, repeats) for _ in range(samples)]


def overheads() -> dict[str, float]:
    """Microseconds by which calls of autodidax.numpy's functions on plain arrays exceed those of NumPy's."""
    import autodidax.numpy as anp

    x, y = np.linspace(0.1, 0.9, 10), np.linspace(0.2, 0.8, 10)
    square = np.eye(3) + 0.1
    calls: dict[str, Callable[[Any], Any]] = {
        "sin(x)": lambda m, r=range(1000): [m.sin(x) for _ in r],
        "add(x, y)": lambda m, r=range(1000): [m.add(x, y) for _ in r],
        "maximum(x, 0)": lambda m, r=range(1000): [m.maximum(x, 0.0) for _ in r],
        "power(x, 3)": lambda m, r=range(1000): [m.power(x, 3) for _ in r],
        "sum(x)": lambda m, r=range(1000): [m.sum(x) for _ in r],
        "sum(x, axis=0)": lambda m, r=range(1000): [m.sum(x, axis=0) for _ in r],
        "mean(x)": lambda m, r=range(1000): [m.mean(x) for _ in r],
        "where(x > 0, x, y)": lambda m, r=range(1000), c=x > 0.5: [m.where(c, x, y) for _ in r],
        "reshape(x, (2, 5))": lambda m, r=range(1000): [m.reshape(x, (2, 5)) for _ in r],
        "concatenate([x, y])": lambda m, r=range(1000): [m.concatenate([x, y]) for _ in r],
        "stack([x, y])": lambda m, r=range(1000): [m.stack([x, y]) for _ in r],
        "dot(x, y)": lambda m, r=range(1000): [m.dot(x, y) for _ in r],
        "matmul(a, a)": lambda m, r=range(1000): [m.matmul(square, square) for _ in r],
        "linalg.solve(a, b)": lambda m, r=range(1000): [m.linalg.solve(square, square) for _ in r],
    }
    result = {}
    for name, call in calls.items():
        best = {np: float("inf"), anp: float("inf")}
        for _ in range(9):
            for module in best:
                start = time.process_time()
                call(module)
                best[module] = min(best[module], (time.process_time() - start) * 1e3)  # 1000 calls: us a call
        result[name] = best[anp] - best[np]
    return result
