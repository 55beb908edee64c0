"""The option check_key_reuse: the second use of a key is an error that names both lines."""

import threading

import numpy as np
import pytest

import autodidax as ad
from autodidax import config, lax, random
from autodidax.random import KeyReuseError


@pytest.fixture(autouse=True)
def checked():
    with config.override(check_key_reuse=True):
        yield


def twice(key):
    x = random.normal(key)  # first
    return x + random.uniform(key)  # second


def once(key):
    k1, k2, k3 = random.split(key, 3)
    return random.normal(k1) + random.beta(k2, 1.0, 2.0) + random.categorical(random.fold_in(k3, 1), np.zeros(3))


def line_of(mark):
    with open(__file__) as file:
        return 1 + next(i for i, line in enumerate(file) if line.endswith(f"# {mark}\n"))


RUNS = {
    "eager": lambda f, key: f(key),
    "raw": lambda f, key: f(random.key_data(key)),
    "jit": lambda f, key: ad.jit(f)(key),
    "vmap": lambda f, key: ad.vmap(f)(random.split(key, 3)),
    "jit of vmap": lambda f, key: ad.jit(ad.vmap(f))(random.split(key, 3)),
    "grad": lambda f, key: ad.grad(lambda x: x * f(key))(2.0),
    "grad of jit": lambda f, key: ad.grad(ad.jit(lambda x: x * f(key)))(2.0),
    "scan": lambda f, key: ad.jit(lambda k: lax.scan(lambda c, k: (c + f(k), None), 0.0, random.split(k, 2))[0])(key),
    "cond": lambda f, key: ad.jit(lambda k: lax.cond(True, f, lambda k: 0.0, k))(key),
    "made inside": lambda f, key: f(random.key(7)),
    "made inside jit": lambda f, key: ad.jit(lambda s: f(random.key(s)))(7),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_second_use_is_an_error(run):
    with pytest.raises(KeyReuseError) as caught:
        run(twice, random.key(0))
    lines = str(caught.value).split("\n")
    first, second = line_of("first"), line_of("second")
    assert lines[0] == f"uniform uses a key that normal has used already, at twice (test_reuse.py:{first})"
    assert lines[1].startswith(f"  in: twice (test_reuse.py:{second})")
    assert lines[2] == (
        "  mend: split it first, k1, k2 = random.split(key), or say that it is meant: random.clone(key)"
    )


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_one_use_each_is_none(run):
    for _ in range(2):  # a key made anew is a new one
        run(once, random.key(0))


REUSED = {
    "the same entry of keys": lambda k: (random.normal(random.split(k)[0]), random.normal(k)),
    "an entry twice": lambda k: (lambda ks: (random.normal(ks[0]), random.normal(ks[0])))(random.split(k)),
    "a split key": lambda k: (random.split(k), random.split(k)),
    "a draw, then a number folded in": lambda k: (random.normal(k), random.fold_in(k, 1)),
    "a number folded in, then a draw": lambda k: (random.fold_in(k, 1), random.normal(k)),
    "one number folded in twice": lambda k: (random.fold_in(k, 1), random.fold_in(k, 1)),
    "an entry and its reshaped twin": lambda k: (lambda ks: (random.normal(ks[0]), random.normal(ks.reshape(2)[0])))(
        random.split(k)
    ),
}
USED = {
    "entries": lambda k: (lambda ks: (random.normal(ks[0]), random.normal(ks[1])))(random.split(k)),
    "numbers folded in": lambda k: [random.normal(random.fold_in(k, i)) for i in range(3)],
    "a clone": lambda k: (random.normal(k), random.normal(random.clone(k))),
    "its words": lambda k: (random.key_data(k), k.reshape(1), k == k, random.normal(k)),
}


@pytest.mark.parametrize("around", [lambda f: f, ad.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(
    "use", [v for n, v in REUSED.items() if "twin" not in n], ids=[n for n in REUSED if "twin" not in n]
)
def test_reused(use, around):
    with pytest.raises(KeyReuseError, match=r"already|again"):
        around(use)(random.key(3))


def test_reused_by_value():
    with pytest.raises(KeyReuseError):
        REUSED["an entry and its reshaped twin"](random.key(3))


@pytest.mark.parametrize("around", [lambda f: f, ad.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("use", USED.values(), ids=USED)
def test_used_well(use, around):
    around(use)(random.key(3))


def test_the_scope_is_the_time_that_the_option_is_on():
    key = random.key(5)
    random.normal(key)
    with config.override(check_key_reuse=False):
        random.normal(key)
    with pytest.raises(KeyReuseError):
        random.normal(key)


def test_scopes_are_those_of_the_thread():
    key = random.key(6)
    found = []

    def run():
        with config.override(check_key_reuse=True):
            found.append(float(random.normal(key)))

    random.normal(key)
    for _ in range(2):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert len(found) == 2


def test_a_trace_that_failed_leaves_nothing():
    key = random.key(8)

    def fails(x):
        random.normal(key)
        raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            ad.jit(fails)(1.0)


def test_it_is_off_by_default():
    with config.override(check_key_reuse=False):
        assert np.isfinite(twice(random.key(0)))
    assert "check_key_reuse=False" in repr(config) or config.check_key_reuse
