"""Every draw is the same eager, under jit, and under vmap over keys, where it is a loop; keys pass through loops."""

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import lax, random
from tests.random.draws import FLOATS, OTHERS

#: their draws call NumPy on the results
PLAIN = {"multivariate_normal eigh", "seed"}
DRAWS = {name: lambda r, k, draw=draw: draw(r, k, np.dtype(np.float64)) for name, draw in FLOATS.items()} | OTHERS
DRAWS = {name: draw for name, draw in DRAWS.items() if name not in PLAIN}
GENERATORS = ["threefry2x32", "philox"]


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("name", DRAWS)
def test_transforms_do_not_change_a_draw(name, generator):
    keys = random.split(random.key(5, impl=generator), 3)
    draw = lambda key: DRAWS[name](random, key)
    one_by_one = [np.asarray(draw(key)) for key in keys]
    for results, expected in [
        ([draw(keys[0]), draw(random.key_data(keys[0])), ad.jit(draw)(keys[0])], one_by_one[0]),
        ([ad.vmap(draw)(keys), ad.jit(ad.vmap(draw))(keys), ad.vmap(ad.jit(draw))(keys)], np.stack(one_by_one)),
    ]:
        for got in results:
            assert np.asarray(got).dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)


MAPPED_PARAMETERS = {
    "gamma": lambda k, x: random.gamma(k, x),
    "poisson": lambda k, x: random.poisson(k, x, (2,)),
    "binomial": lambda k, x: random.binomial(k, 20, 1 / x),
    "randint": lambda k, x: random.randint(k, (2,), 0, x.astype(int)),
    "uniform": lambda k, x: random.uniform(k, (2,), None, 0.0, x),
    "fold_in": lambda k, x: random.key_data(random.fold_in(k, x.astype(int))),
    "key": lambda k, x: random.key_data(random.key(x.astype(int))),
}


@pytest.mark.parametrize("draw", MAPPED_PARAMETERS.values(), ids=MAPPED_PARAMETERS)
@pytest.mark.parametrize("generator", GENERATORS)
def test_vmap_over_parameters_is_a_loop(draw, generator):
    keys, xs = random.split(random.key(1, impl=generator), 2), np.array([1.5, 4.0, 30.0])
    rows = np.stack([draw(keys[0], x) for x in xs])
    np.testing.assert_array_equal(ad.vmap(lambda x: draw(keys[0], x))(xs), rows)
    table = np.stack([[draw(key, x) for x in xs] for key in keys])
    both = ad.vmap(lambda key: ad.vmap(lambda x: draw(key, x))(xs))
    np.testing.assert_array_equal(both(keys), table)
    other = ad.vmap(lambda x: ad.vmap(lambda key: draw(key, x))(keys))
    np.testing.assert_array_equal(other(xs), np.swapaxes(table, 0, 1))


def walk(key, step):
    """The end of a random walk and its key, as a carry."""
    position, key = step
    key, sub = random.split(key)
    return position + random.normal(sub), key


def by_scan(key):
    return lax.scan(lambda carry, _: (walk(key, carry), None), (0.0, key), None, length=4)[0]


def by_fori(key):
    return lax.fori_loop(0, 4, lambda i, carry: walk(key, carry), (0.0, key))


def by_while(key):
    return lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, walk(key, c[1])), (0, (0.0, key)))[1]


def by_hand(key):
    carry = (0.0, key)
    for _ in range(4):
        carry = walk(key, carry)
    return carry


@pytest.mark.parametrize("loop", [by_scan, by_fori, by_while], ids=lambda f: f.__name__)
@pytest.mark.parametrize("around", [lambda f: f, ad.jit], ids=["eager", "jit"])
def test_keys_are_carried(loop, around):
    position, key = around(loop)(random.key(3))
    expected = by_hand(random.key(3))
    np.testing.assert_array_equal(position, expected[0])
    assert (key == expected[1]).all()
    positions, keys = ad.vmap(loop)(random.split(random.key(3), 2))
    np.testing.assert_array_equal(positions, [by_hand(k)[0] for k in random.split(random.key(3), 2)])
    assert keys.shape == (2,)


def test_branches_take_and_return_keys():
    choose = lambda p, key: lax.cond(p, lambda k: random.split(k)[0], lambda k: k, key)
    key = random.key(2)
    for f in (choose, ad.jit(choose)):
        assert f(True, key) == random.split(key)[0]
        assert f(False, key) == key


def test_scan_over_keys_and_keys_as_results():
    keys = random.split(random.key(0), 3)
    total, folded = ad.jit(lambda ks: lax.scan(lambda c, k: (c + random.uniform(k), random.fold_in(k, 7)), 0.0, ks))(
        keys
    )
    np.testing.assert_allclose(total, sum(random.uniform(k) for k in keys), rtol=1e-15)
    assert (folded == ad.vmap(lambda k: random.fold_in(k, 7))(keys)).all()


def test_keys_in_closures():
    key = random.key(0)

    def noisy(key):
        return ad.jit(lambda x: x + random.normal(key))(1.0)

    np.testing.assert_array_equal(noisy(key), 1.0 + random.normal(key))
    np.testing.assert_array_equal(noisy(random.key(1)), 1.0 + random.normal(random.key(1)))
    keys = random.split(key, 3)
    np.testing.assert_array_equal(ad.vmap(noisy)(keys), [noisy(k) for k in keys])
    np.testing.assert_array_equal(ad.grad(lambda m: m * noisy(key))(2.0), noisy(key))


def test_a_staged_draw_is_one_equation():
    text = str(ad.make_jaxpr(lambda key: random.normal(key, (3,)))(random.key(0)))
    assert "random_normal[dtype=float64 generator=threefry2x32 shape=(3,)] a" in text


def test_derivatives_pass_by_a_draw():
    key = random.key(4)
    loss = lambda w, key: anp.sum((w * random.normal(key, (3,)) - random.uniform(key, (3,))) ** 2)
    x, y = random.normal(key, (3,)), random.uniform(key, (3,))
    for f in (ad.grad(loss), ad.jit(ad.grad(loss))):
        np.testing.assert_allclose(f(2.0, key), np.sum(2 * x * (2.0 * x - y)), rtol=1e-14)
    np.testing.assert_allclose(ad.hessian(loss)(2.0, key), np.sum(2 * x * x), rtol=1e-14)


EMPTY = {
    "uniform": lambda k: random.uniform(k, (0, 3)),
    "normal": lambda k: random.normal(k, (2, 0), np.float32),
    "bits": lambda k: random.bits(k, (0,)),
    "randint": lambda k: random.randint(k, (0, 2), 0, 5),
    "gamma": lambda k: random.gamma(k, np.ones((0, 2))),
    "poisson": lambda k: random.poisson(k, np.ones((2, 0))),
    "binomial": lambda k: random.binomial(k, 20, np.full((0, 2), 0.5)),
    "permutation": lambda k: random.permutation(k, 0),
    "choice": lambda k: random.choice(k, 5, (0,)),
    "categorical": lambda k: random.categorical(k, np.zeros((0, 3))),
    "split": lambda k: random.key_data(random.split(k, 0)),
}


@pytest.mark.parametrize("draw", EMPTY.values(), ids=EMPTY)
@pytest.mark.parametrize("generator", GENERATORS)
def test_empty_draws(draw, generator):
    key = random.key(0, impl=generator)
    out = np.asarray(draw(key))
    assert out.size == 0
    assert ad.jit(draw)(key).shape == out.shape
    assert ad.vmap(draw)(random.split(key, 2)).shape == (2, *out.shape)
    assert ad.vmap(draw)(random.split(key, 0)).shape == (0, *out.shape)
