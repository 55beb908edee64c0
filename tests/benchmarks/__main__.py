"""Times autodidax beside the peers that are installed, in one run, and prints ratios and bars.

    python -m tests.benchmarks                           # from the root of the repository, everything
    python -m tests.benchmarks --rounds 3 --only chain   # a quick look at some workloads

Each framework has a process of its own with one thread. The processes take turns, a few samples a turn, so that a
change in the machine's load meets all of them; each round goes over all workloads. Times are CPU times.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.benchmarks.bars import BARS, IMPORT_LIMIT, LEFT_OUT, OVERHEAD_LIMIT, ROWS
from tests.benchmarks.frameworks import FRAMEWORKS
from tests.benchmarks.worker import serve

ROOT = Path(__file__).resolve().parents[2]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Times = dict[tuple[str, str, str], list[list[float]]]  # of each round, the samples


class Worker:
    """The process of one framework, on one processor where the system lets us choose."""

    def __init__(self, framework: str):
        environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks", "--worker", framework],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self.process.pid, {min(os.sched_getaffinity(0))})

    def ask(self, **request: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process of {self.process.args[-1]} ended on {request}")  # type: ignore[index]  # always a list
        return json.loads(answer)

    def close(self) -> None:
        self.process.communicate()


def measure(frameworks: Sequence[str], rows: Sequence[tuple[str, str]], rounds: int, samples: int) -> tuple[Times, Any]:
    workers = {name: Worker(name) for name in frameworks}
    times: Times = {}
    try:
        for k in range(rounds):
            for workload, kind in rows:
                for name, worker in workers.items():
                    if (name, workload) in LEFT_OUT:
                        continue
                    taken = worker.ask(task="time", workload=workload, kind=kind, samples=samples)
                    if taken is not None:
                        times.setdefault((workload, kind, name), []).append(taken)
            print(f"round {k + 1} of {rounds}", file=sys.stderr)
        overhead = workers["autodidax"].ask(task="overhead")
    finally:
        for worker in workers.values():
            worker.close()
    return times, overhead


def import_times(rounds: int) -> list[float]:
    """Milliseconds that importing autodidax takes after NumPy is there, its bytecode being compiled already."""
    code = "import time, numpy; t = time.process_time(); import autodidax; print((time.process_time() - t) * 1e3)"
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def run() -> float:
            done = subprocess.run(
                [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True
            )
            return float(done.stdout)

        run()
        return [run() for _ in range(rounds)]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def print_times(times: Times, frameworks: Sequence[str], rows: Sequence[tuple[str, str]]) -> None:
    def cell(workload: str, kind: str, name: str) -> str:
        taken = times.get((workload, kind, name))
        if not taken:
            return "-"
        samples = [t for of_round in taken for t in of_round]
        return f"{min(samples) * 1e3:.3g} ({statistics.median(samples) * 1e3:.3g})"

    print("Times in ms, the least (and the median) of all samples\n")
    print(table(
        ["workload", "what", *frameworks],
        [[workload, kind, *(cell(workload, kind, name) for name in frameworks)] for workload, kind in rows],
    ))  # fmt: skip


def bar_rows(times: Times, overhead: dict[str, float], imports: list[float]) -> list[list[str]]:
    """Text, limit, ratio of the least times, median of the rounds' ratios, verdict."""
    rows = []
    for bar in BARS:
        ours, theirs = times.get(bar.numerator), times.get(bar.denominator)
        if ours and theirs:
            least = min(map(min, ours)) / min(map(min, theirs))
            middle = statistics.median(min(x) / min(y) for x, y in zip(ours, theirs, strict=True))
            verdict = "met" if least <= bar.limit else "not met"
            rows.append([str(bar), f"{bar.limit:g}", f"{least:.2f}", f"{middle:.2f}", verdict])
    name = max(overhead, key=overhead.__getitem__)
    worst, middle = overhead[name], statistics.median(overhead.values())
    verdict = "met" if worst <= OVERHEAD_LIMIT else "not met"
    text = f"anp on plain arrays over np, us: the most, {name}, and the median function"
    rows.append([text, f"{OVERHEAD_LIMIT:g}", f"{worst:.2f}", f"{middle:.2f}", verdict])
    least, middle = min(imports), statistics.median(imports)
    verdict = "met" if least <= IMPORT_LIMIT else "not met"
    rows.append(["import beyond NumPy's, ms", f"{IMPORT_LIMIT:g}", f"{least:.0f}", f"{middle:.0f}", verdict])
    return rows


def versions(frameworks: Sequence[str]) -> str:
    found = [f"Python {platform.python_version()}"]
    for package in dict.fromkeys(["numpy", "scipy", *(FRAMEWORKS[name][0] for name in frameworks)]):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} from this folder")
    return ", ".join(found) + f"; {os.cpu_count()} processors, {platform.machine()}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--samples", type=int, default=3, help="samples of a measurement in each round")
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    parser.add_argument("--frameworks", default="", help="comma-separated; default: all that are installed")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        serve(options.worker)
        return
    wanted = options.frameworks.split(",") if options.frameworks else list(FRAMEWORKS)
    frameworks = [name for name in wanted if importlib.util.find_spec(FRAMEWORKS[name][0]) is not None]
    if "autodidax" not in frameworks:
        frameworks.insert(0, "autodidax")
    rows = [row for row in ROWS if options.only in row[0]]
    times, overhead = measure(frameworks, rows, options.rounds, options.samples)
    print(f"{versions(frameworks)}; one thread; {options.rounds} interleaved rounds of {options.samples} samples\n")
    print_times(times, frameworks, rows)
    print("\nBars: the ratio of the least times decides; beside it the median of the single rounds' ratios\n")
    bars = bar_rows(times, overhead, import_times(options.rounds))
    print(table(["what", "at most", "measured", "median round", ""], bars))
    print("\nanp on plain arrays over np, us: " + ", ".join(f"{k} {v:.2f}" for k, v in overhead.items()))


if __name__ == "__main__":
    main()
