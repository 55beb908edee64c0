"""The option explain_cache_misses: what is logged where a jitted function is traced again."""

import numpy as np
import pytest

import autodidax as ad

CALLS = {
    "shape": (lambda f: (f(np.ones(3)), f(np.ones(4))), "argument 'x' is float64[4], it was float64[3]"),
    "dtype": (
        lambda f: (f(np.ones(3)), f(np.ones(3, np.float32))), "argument 'x' is float32[3], it was float64[3]"),
    "Python number": (lambda f: (f(1.0), f(np.float64(1.0))), "argument 'x' is float64[], it was a Python float"),
    "structure": (lambda f: (f([1.0]), f([1.0, 2.0])), "the arguments have another structure: "),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_what_is_new_is_told(name, caplog):
    run, message = CALLS[name]
    with ad.config.override(explain_cache_misses=True), caplog.at_level("WARNING", "autodidax.jit"):
        run(ad.jit(lambda x: ad.tree.map(lambda v: v * 2.0, x)))
    first, second = [record.getMessage() for record in caplog.records]
    assert first.startswith("jit of <lambda> is traced at test_cache_misses.py:")
    assert first.endswith(": it has not been called before")
    assert second.startswith("jit of <lambda> is traced again at test_cache_misses.py:") and message in second


def test_static_arguments_are_told(caplog):
    f = ad.jit(lambda x, n: x * n, static_argnums=1)
    with ad.config.override(explain_cache_misses=True), caplog.at_level("WARNING", "autodidax.jit"):
        f(1.0, 2)
        f(1.0, 2)
        f(1.0, 3)
    assert len(caplog.records) == 2
    assert "is 3, it was 2" in caplog.records[1].getMessage()


def test_nothing_is_told_without_the_option(caplog):
    f = ad.jit(lambda x: x * 2.0)
    f(1.0)
    f(np.ones(3))
    assert not caplog.records
