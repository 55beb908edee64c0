"""Times check_grads beside PyTorch's gradcheck, slow and fast: forward and reverse mode, order 1.

    python -m tests.benchmarks.gradcheck               # from the root of the repository
    python -m tests.benchmarks.gradcheck --rounds 3

A check at the given point alone stands beside gradcheck, which knows no other; the last column is the whole default
check of order 1, with the points beside. Both run in one process with one thread, in turns; each time is the median
of the rounds. `f ratio` is how long the function itself takes with NumPy, beside PyTorch: a check is some tens of its
evaluations. It ends with 1 where the check at one point takes longer than the fast mode, from 200 inputs on.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autodidax.numpy as anp
from autodidax.test_util import check_grads

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SIZES = (5, 200, 1000, 4000)
SLOW = 200  # inputs up to which the slow mode is timed: it takes minutes beyond
EVALUATIONS = 20  # that are timed together
WEIGHTS = np.random.default_rng(1).normal(size=(50, max(SIZES)))


def chain(xp: Any, x: Any) -> Any:
    for _ in range(5):
        x = xp.sin(x) * xp.exp(x * 0.1) + x
    return x


def softmax(xp: Any, x: Any) -> Any:
    e = xp.exp(x - x.sum() / x.shape[0])
    return e / e.sum()


def layer(xp: Any, x: Any) -> Any:
    weights = xp.weights[:, : x.shape[0]]
    return xp.tanh(weights @ x * x.shape[0] ** -0.5)


def loss(xp: Any, x: Any) -> Any:
    hidden = xp.tanh(x * 0.5)
    return (hidden * hidden).sum() + xp.exp(-hidden).sum()


FUNCTIONS = (chain, softmax, layer, loss)


class _NumPy:
    sin, exp, tanh, weights = anp.sin, anp.exp, anp.tanh, WEIGHTS


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


def _time(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def runs_of(f: Callable[..., Any], n: int, torch: Any) -> dict[str, Callable[[], Any]]:
    """What is timed of one function at one size, by column."""
    x = np.random.default_rng(0).normal(size=n)
    own = lambda z: f(_NumPy, z)
    runs = {
        "given": lambda: check_grads(own, (x,), order=1, points="given"),
        "all": lambda: check_grads(own, (x,), order=1),
        "f": lambda: [own(x) for _ in range(EVALUATIONS)],
    }
    if torch is None:
        return runs

    class Torch:
        sin, exp, tanh, weights = torch.sin, torch.exp, torch.tanh, torch.tensor(WEIGHTS)

    t = torch.tensor(x, requires_grad=True)
    check = lambda **options: torch.autograd.gradcheck(lambda z: f(Torch, z), (t,), check_forward_ad=True, **options)
    plain = t.detach()
    runs["their f"] = lambda: [f(Torch, plain) for _ in range(EVALUATIONS)]
    runs["fast"] = lambda: check(fast_mode=True)
    if n <= SLOW:
        runs["slow"] = lambda: check(fast_mode=False)
    return runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    if any(name not in os.environ for name in THREADS):  # they are read when the libraries are loaded
        again = [sys.executable, "-m", "tests.benchmarks.gradcheck", f"--rounds={rounds}"]
        return subprocess.run(again, env={**os.environ, **dict.fromkeys(THREADS, "1")}, check=False).returncode
    torch = _torch()
    print(
        f"{'function':10} {'inputs':>6} {'at the point':>13} {'fast mode':>11} {'ratio':>6} "
        f"{'f ratio':>8} {'slow mode':>11} {'all points':>11}"
    )
    slower = []
    for f in FUNCTIONS:
        for n in SIZES:
            runs = runs_of(f, n, torch)
            taken: dict[str, list[float]] = {name: [] for name in runs}
            for k in range(rounds + 1):
                for name, run in runs.items():
                    if name != "slow" or k < 2:
                        taken[name].append(_time(run))
            median = {name: 1e3 * statistics.median(times[1:]) for name, times in taken.items()}
            ratio = median["given"] / median["fast"] if "fast" in median else float("nan")
            own = median["f"] / median["their f"] if "fast" in median else float("nan")
            shown = {name: f"{t:8.2f} ms" for name, t in median.items()}
            print(
                f"{f.__name__:10} {n:6} {shown['given']:>13} {shown.get('fast', '-'):>11} {ratio:6.2f} "
                f"{own:8.2f} {shown.get('slow', '-'):>11} {shown['all']:>11}",
                flush=True,
            )
            if n >= 200 and ratio > 1:
                slower.append(f"{f.__name__} of {n}")
    if torch is None:
        print("PyTorch is not installed: nothing to compare with")
    elif slower:
        print("slower than the fast mode: " + ", ".join(slower))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
