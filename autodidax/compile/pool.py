"""Blocks of a large array, on all cores: NumPy releases the interpreter's lock while it computes.

The boundaries of the blocks depend on shapes alone, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from autodidax.config import config

FEWEST = 2  # blocks that are worth a second thread

_pool: ThreadPoolExecutor | None = None
_size = 0


def run_blocks(block: Callable[..., None], length: int, step: int, *arrays: Any) -> None:
    """Call block(start, stop, number, *arrays) for each part of an axis of this length."""
    count = -(-length // step)
    threads = min(thread_count(), count)
    if threads < 2 or count < FEWEST:
        for k in range(count):
            block(k * step, min((k + 1) * step, length), k, *arrays)
        return

    def share(first: int) -> None:
        for k in range(first, count, threads):
            block(k * step, min((k + 1) * step, length), k, *arrays)

    pool = _threads(threads - 1)
    others = [pool.submit(contextvars.copy_context().run, share, k) for k in range(1, threads)]
    try:
        share(0)
    finally:
        wait(others)
    for task in others:
        task.result()


def thread_count() -> int:
    """How many threads blocks run on: the option `num_threads`, or the cores that this process may use."""
    return config.num_threads or _available()


def _available() -> int:
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


def _threads(count: int) -> ThreadPoolExecutor:
    global _pool, _size
    if _pool is None or _size < count:
        if _pool is not None:
            _pool.shutdown(wait=False)
        _pool, _size = ThreadPoolExecutor(count, thread_name_prefix="autodidax"), count
    return _pool


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _pool, _size
    _pool, _size = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
