"""Blocks on several threads: results do not depend on their number, settings and errors come through, forks work."""

import contextvars
import multiprocessing
import threading
import warnings

import numpy as np
import pytest

import autodidax as ad
from autodidax.compile import pool

X = np.linspace(0.1, 2.0, 300_000)


def loss(x):
    y = np.sin(x) * np.exp(-x) + x
    return np.sum(y * y) / x.shape[0]


@pytest.fixture(autouse=True)
def own_pool():
    pool._forget()
    yield
    pool._forget()


def test_results_do_not_depend_on_the_number_of_threads():
    results = []
    for threads in (1, 2, 3, 4):
        with ad.config.override(num_threads=threads):
            results.append(ad.jit(ad.value_and_grad(loss))(X))
    for value, gradient in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])
    np.testing.assert_allclose(results[0][1], ad.grad(loss)(X), rtol=1e-14, atol=1e-20)


def test_every_part_is_visited_once_and_in_its_context():
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    seen, names = np.zeros(103, int), set()

    def block(start, stop, number, array):
        assert variable.get() == 7 and start == 10 * number
        names.add(threading.current_thread().name)
        array[start:stop] += 1

    with ad.config.override(num_threads=3):
        pool.run_blocks(block, 103, 10, seen)
    assert seen.tolist() == [1] * 103
    assert len(names) > 1


def test_errors_come_out():
    def block(start, stop, number):
        if number == 3:
            raise ZeroDivisionError("in block 3")

    for threads in (1, 2, 4):
        with ad.config.override(num_threads=threads), pytest.raises(ZeroDivisionError, match="in block 3"):
            pool.run_blocks(block, 100, 10)


def test_errstate_holds_in_the_threads():
    f = ad.jit(lambda x: np.sum(np.log(x) * 2.0 + np.sqrt(x)))
    x = X.copy()
    x[-1] = 0.0
    with ad.config.override(num_threads=2):
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            f(x)
        with np.errstate(divide="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert f(x) == -np.inf


def test_threads_may_call_programs():
    f = ad.jit(ad.grad(loss))
    want = f(X)
    found = []
    with ad.config.override(num_threads=2):
        threads = [threading.Thread(target=lambda: found.append(f(X))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 4
    for gradient in found:
        np.testing.assert_array_equal(gradient, want)


def _in_child(queue):
    queue.put(float(ad.jit(loss)(X)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_a_fork_has_its_own_threads():
    context = multiprocessing.get_context("fork")
    with ad.config.override(num_threads=2), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, on forks of processes with threads
        want = float(ad.jit(loss)(X))
        queue = context.SimpleQueue()
        child = context.Process(target=_in_child, args=(queue,))
        child.start()
        child.join(60)
        assert child.exitcode == 0 and queue.get() == want


def test_the_number_of_threads_is_an_option(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert pool.thread_count() == 1
    with ad.config.override(num_threads=3):
        assert pool.thread_count() == 3
    with pytest.raises(ad.errors.ArgumentError, match="a number of threads"):
        ad.config.update("num_threads", -1)
