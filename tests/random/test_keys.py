"""Keys: making, splitting, the array that they are, and the errors of misuse with their whole text."""

import copy
import pickle

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors, random, tree

KEY = random.key(42)
KEYS = random.split(KEY, 6).reshape(2, 3)


def test_a_key():
    assert (KEY.shape, KEY.ndim, KEY.size, KEY.itemsize, KEY.nbytes) == ((), 0, 1, 8, 8)
    assert repr(KEY.dtype) == KEY.dtype.name == "key<fry>"
    assert KEY.dtype == random.key_dtype() == random.key(0).dtype != random.key_dtype("philox")
    assert repr(KEY) == "KeyArray((), dtype=key<fry>): [ 0, 42]"
    assert random.key_impl(KEY) == "threefry2x32"
    assert random.key(42, dtype=KEY.dtype) == random.key(42, impl="threefry2x32") == KEY
    np.testing.assert_array_equal(random.key_data(KEY), [0, 42])
    assert repr(random.key(0, impl="philox").dtype) == "key<phx>"


@pytest.mark.parametrize("seed", [0, 42, -1, 1 << 40, (1 << 64) - 1])
def test_seeds_of_all_kinds(seed):
    made = random.key_data(random.key(seed))
    np.testing.assert_array_equal(made, [seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF])
    np.testing.assert_array_equal(random.PRNGKey(seed), made)
    wide = np.array(seed, np.int64 if seed < 1 << 63 else np.uint64)
    np.testing.assert_array_equal(random.key_data(random.key(wide)), made)
    np.testing.assert_array_equal(ad.jit(random.PRNGKey)(wide), made)


def test_key_data_is_a_copy():
    words = random.key_data(KEY)
    words[:] = 7
    assert random.key(42) == KEY
    words = random.key_data(KEY)
    same = random.wrap_key_data(words)
    words[:] = 7
    assert same == KEY


def test_parts_and_rearrangements():
    words = random.key_data(KEYS)
    assert (KEYS.shape, len(KEYS)) == ((2, 3), 2)
    for got, expected in [
        (KEYS[1], words[1]), (KEYS[1, 2], words[1, 2]), (KEYS[:, 1:], words[:, 1:]), (KEYS[..., 0], words[:, 0]),
        (KEYS[None], words[None]), (KEYS[np.array([1, 0])], words[[1, 0]]), (KEYS[KEYS == KEYS], words.reshape(6, 2)),
        (KEYS.reshape(3, -1), words.reshape(3, 2, 2)), (KEYS.reshape((6,)), words.reshape(6, 2)),
        (KEYS.ravel(), words.reshape(6, 2)), (KEYS.flatten(), words.reshape(6, 2)), (KEYS.T, words.swapaxes(0, 1)),
        (KEYS.transpose(1, 0), words.swapaxes(0, 1)), (KEYS.swapaxes(0, 1), words.swapaxes(0, 1)),
        (KEYS[None].squeeze(), words), (KEYS[None].squeeze(0), words), (KEYS.copy(), words),
        (np.stack([KEYS, KEYS], axis=1), np.stack([words, words], axis=1)),
        (np.concatenate([KEYS, KEYS], axis=-1), np.concatenate([words, words], axis=1)),
        (np.where(np.eye(2, 3) > 0, KEYS, KEYS[0, 0]), np.where(np.eye(2, 3)[..., None] > 0, words, words[0, 0])),
        (np.expand_dims(KEYS, 1), words[:, None]), (np.broadcast_to(KEYS, (2, 2, 3)), np.stack([words, words])),
        (np.moveaxis(KEYS, 0, 1), words.swapaxes(0, 1)), (np.reshape(KEYS, (6,)), words.reshape(6, 2)),
        (anp.stack([KEY, KEY]), np.stack([random.key_data(KEY)] * 2)), (np.ravel(KEYS), words.reshape(6, 2)),
        (np.squeeze(KEYS[None]), words), (np.transpose(KEYS), words.swapaxes(0, 1)),
        (np.swapaxes(KEYS, 0, 1), words.swapaxes(0, 1)),
    ]:  # fmt: skip
        np.testing.assert_array_equal(random.key_data(got), expected)
    assert (np.shape(KEYS), np.ndim(KEYS), np.size(KEYS)) == ((2, 3), 2, 6)
    a, b = KEYS
    assert (a == KEYS[0]).all() and (b == KEYS[1]).all()


def test_parts_of_traced_keys():
    parts = lambda k: (
        k[1, 2],
        k.reshape(6)[:2],
        list(k[0]),
        np.stack([k[0, 0], k[0, 1]]),
        k.T,
        np.where(np.eye(2, 3) > 0, k, k),
    )
    for got, expected in zip(tree.leaves(ad.jit(parts)(KEYS)), tree.leaves(parts(KEYS)), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert ad.vmap(lambda k: k[0])(KEYS).shape == (2,)
    shown = []
    ad.vmap(lambda k: shown.append(repr(k)) or k)(KEYS)
    assert shown == ["KeyArray((3,), dtype=key<fry>, traced)"]


def test_equality():
    assert random.key(42) == KEY
    assert random.key(1) != KEY
    np.testing.assert_array_equal(KEYS[0] == KEYS[0, 1], [False, True, False])
    np.testing.assert_array_equal(np.not_equal(KEYS[0], KEYS[0, 1]), [True, False, True])
    assert KEY != None and KEY != "text"  # noqa: E711  # the comparison itself is tested


def test_a_pytree_node():
    leaves, treedef = tree.flatten({"a": KEYS})
    assert [x.shape for x in leaves] == [(2, 3, 2)] and leaves[0].dtype == np.uint32
    assert (tree.unflatten(treedef, leaves)["a"] == KEYS).all()
    assert tree.map(lambda x: x[0], KEYS).shape == (3,)
    assert tree.structure(KEY) != tree.structure(random.key(0, impl="philox"))
    assert tree.keystr(tree.leaves_with_path([KEY])[0][0]) == "[0].data"
    assert (copy.deepcopy(KEYS) == KEYS).all() and (pickle.loads(pickle.dumps(KEYS)) == KEYS).all()


@pytest.mark.parametrize("generator", ["threefry2x32", "philox"])
def test_new_keys_differ(generator):
    key = random.key(0, impl=generator)
    # in threefry the key that i is folded into is that of place i in a split, as in JAX
    folded = [random.fold_in(key, i)[None] for i in range(2000, 2050)]
    words = random.key_data(np.concatenate([random.split(key, 1000), *folded, key[None]]))
    assert len(np.unique(words, axis=0)) == 1051
    assert random.split(key).shape == (2,) and random.split(key, (2, 5)).shape == (2, 5)
    assert (random.split(key, (2, 5)).ravel() == random.split(key, 10)).all()
    assert (random.clone(key) == key) and random.key_impl(random.fold_in(key, 1)) == generator
    np.testing.assert_array_equal(random.split(random.key_data(key)), random.key_data(random.split(key)))
    assert random.fold_in(key, -1) == random.fold_in(key, np.uint32(0xFFFFFFFF))


def test_philox_is_numpys():
    key = random.key(3, impl="philox")
    expected = np.random.Generator(np.random.Philox(key=[3, 0]))
    np.testing.assert_array_equal(random.normal(key, (5,)), expected.standard_normal(5))
    np.testing.assert_array_equal(
        random.uniform(key, (5,)), np.random.Generator(np.random.Philox(key=[3, 0])).random(5)
    )
    assert random.normal(key, (5,), np.float32).dtype == np.float32


USE = "draw numbers from it, e.g. random.normal(key, shape), or take its words: random.key_data(key)"
MISUSED = {
    "a sum": (lambda: KEY + 1, errors.DtypeError, "+: a random key is no number", USE),
    "a product with an array": (
        lambda: np.ones(3) * KEY, errors.DtypeError, "np.multiply: a random key is no number", USE
    ),
    "a comparison with a number": (lambda: KEY == 0, errors.DtypeError, "==: a random key is no number", USE),
    "an order": (lambda: KEY < KEY, errors.DtypeError, "<: a random key is no number", USE),
    "a function": (lambda: np.sin(KEY), errors.DtypeError, "np.sin: a random key is no number", USE),
    "a reduction": (lambda: np.sum(KEY), errors.DtypeError, "np.sum: a random key is no number", USE),
    "a float": (lambda: float(KEY), errors.DtypeError, "float: a random key is no number", USE),
    "an int": (lambda: int(KEY), errors.DtypeError, "int: a random key is no number", USE),
    "an index": (lambda: [1, 2][KEY], errors.DtypeError, "an index: a random key is no number", USE),
    "a truth value": (lambda: bool(KEY), errors.DtypeError, "bool: a random key is no number", USE),
    "an array": (lambda: np.asarray(KEY), errors.DtypeError, "np.asarray: a random key is no number", USE),
    "generators mixed": (
        lambda: random.key(0, impl="philox") == KEY, errors.DtypeError,
        "keys of dtypes key<phx> and key<fry> cannot be compared", "compare keys of one generator",
    ),
    "generators stacked": (
        lambda: np.stack([KEY, random.key(0, impl="philox")]), errors.DtypeError,
        "np.stack: keys of dtypes key<fry> and key<phx> do not fit into one array", "use one generator",
    ),
    "a key beside numbers": (
        lambda: np.stack([KEY, np.ones(2)]), errors.DtypeError,
        "np.stack: an array of keys and ndarray: a random key is no number", USE,
    ),
    "the length of one": (
        lambda: len(KEY), errors.ShapeError, "a single random key has no length",
        "split it: keys = random.split(key, n)",
    ),
    "iteration over one": (
        lambda: list(KEY), errors.ShapeError, "a single random key cannot be iterated over",
        "split it: k1, k2 = random.split(key)",
    ),
    "an entry of one": (
        lambda: KEY[0], errors.OutOfBoundsError, "an array of random keys of shape () is indexed along 1 axis",
        "split a single key to have several: keys = random.split(key, n)",
    ),
    "too many indices": (
        lambda: KEYS[0, 0, 0], errors.OutOfBoundsError,
        "an array of random keys of shape (2, 3) is indexed along 3 axes", "give at most 2 indices",
    ),
    "another size": (
        lambda: KEYS.reshape(4), errors.ShapeError, "an array of 6 random keys cannot have the shape (4,)",
        "give sizes whose product is the number of keys",
    ),
    "a number for a key": (
        lambda: random.normal(3.0), errors.DtypeError, "normal takes a random key first, got a float",
        "make one of a seed: random.key(0)",
    ),
    "a seed for a key": (
        lambda: random.normal(3), errors.DtypeError, "normal takes a random key first, got an int",
        "write random.key(3)",
    ),
    "an array for a key": (
        lambda: random.normal(np.zeros(3)), errors.DtypeError,
        "normal takes a random key first, got an array of shape (3,) and dtype float64; a raw key has dtype uint32 and "
        "shape (2,)", "make one of a seed: random.key(0)",
    ),
    "several keys": (
        lambda: random.normal(KEYS[0]), errors.ShapeError, "normal takes a single random key, got keys of shape (3,)",
        "map over them: vmap(lambda key: random.normal(key, ...))(keys)",
    ),
    "several raw keys": (
        lambda: random.normal(random.key_data(KEYS[0])), errors.ShapeError,
        "normal takes a single random key, got keys of shape (3,)",
        "map over them: vmap(lambda key: random.normal(key, ...))(keys)",
    ),
    "a float seed": (
        lambda: random.key(1.5), errors.DtypeError, "key takes an integer seed, got a float", "write key(0)"
    ),
    "a key as a seed": (
        lambda: random.key(KEY), errors.DtypeError, "key takes an integer seed, not a key",
        "use the key, or random.clone(key)",
    ),
    "several seeds": (
        lambda: random.key(np.arange(3)), errors.ShapeError, "key takes one seed, got an array of shape (3,)",
        "write vmap(random.key)(seeds)",
    ),
    "a long seed": (
        lambda: random.key(1 << 64), errors.ArgumentError, "key: the seed 18446744073709551616 has more than 64 bits",
        "give a smaller seed",
    ),
    "an unknown generator": (
        lambda: random.key(0, impl="mersenne"), errors.ArgumentError, "key: there is no generator 'mersenne'",
        "give impl='threefry2x32' or 'philox'",
    ),
    "two generators": (
        lambda: random.key(0, impl="philox", dtype=KEY.dtype), errors.ArgumentError,
        "key: impl and dtype both name the generator", "give one of them",
    ),
    "words of another shape": (
        lambda: random.wrap_key_data(np.zeros(3, np.uint32)), errors.DtypeError,
        "wrap_key_data takes an array of dtype uint32 and shape (..., 2) for 'threefry2x32', got an array of shape "
        "(3,) and dtype uint32", "give what random.key_data returned, and impl= of the same generator",
    ),
    "a number of keys that is negative": (
        lambda: random.split(KEY, -1), errors.ShapeError, "split: num=(-1,) has a negative size",
        "give sizes of 0 or more",
    ),
    "a float to fold in": (
        lambda: random.fold_in(KEY, 0.5), errors.DtypeError, "fold_in takes an integer, got a float",
        "write fold_in(key, int(data))",
    ),
    "several numbers to fold in": (
        lambda: random.fold_in(KEY, np.arange(3)), errors.ShapeError,
        "fold_in takes one key and one integer, got shapes () and (3,)",
        "map over them: vmap(random.fold_in)(keys, numbers)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("misuse", "kind", "message", "mend"), MISUSED.values(), ids=MISUSED)
def test_misuse(misuse, kind, message, mend):
    with pytest.raises(kind) as caught:
        misuse()
    lines = str(caught.value).split("\n")
    assert [lines[0], lines[-1]] == [message, f"  mend: {mend}"]
    assert len(lines) == 3 and "(test_keys.py:" in lines[1]


def test_keys_have_no_hash_and_no_derivative():
    with pytest.raises(TypeError, match="unhashable"):
        hash(KEY)
    with pytest.raises(errors.DtypeError, match=r"argument 'key'\.data of <lambda> has dtype uint32"):
        ad.grad(lambda key: random.normal(key))(KEY)
