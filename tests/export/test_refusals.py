"""What cannot be stored, and what cannot be loaded: one class of error, with words, and never code that runs."""

import hashlib
import json
import random
import struct
import subprocess
import sys
import warnings

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors
from autodidax.core.primitive import Primitive
from autodidax.export import Exported, deserialize, export
from autodidax.export.container import MAGIC, VERSION, unpack
from tests.export.programs import PROGRAMS, X, same, tilted


def observed(x):
    ad.debug.print("{}", x)
    return x


def nested_effect(x):
    return ad.lax.scan(lambda c, r: (observed(c + r), None), 0.0, x)[0]


def called_back(x):
    return ad.pure_callback(np.cbrt, ad.ShapeDtypeStruct(x.shape, x.dtype), x)


class Mode:
    pass


@pytest.fixture
def primitive():
    """A registered primitive with a parameter, which the registry loses again."""

    class Doubled(Primitive):
        def impl(self, x, *, mode):
            return x + x

        def abstract_eval(self, x, *, mode):
            return x

    p = Doubled("doubled_for_export")
    yield p
    ad.registry.remove(p)


REFUSED = {
    "an effect": (observed, "has an effect, debug.print", "leave the effect out"),
    "an effect in a loop": (nested_effect, "has an effect", "leave the effect out"),
    "a host function": (called_back, "calls Python on the host, pure_callback of cbrt", "primitive_from"),
}


@pytest.mark.parametrize(("f", "text", "mend"), REFUSED.values(), ids=REFUSED)
def test_what_no_file_can_hold(f, text, mend):
    with pytest.raises(errors.ExportError, match=text) as caught:
        export(ad.jit(f))(X).serialize()
    assert mend in caught.value.mend
    name = "observed" if "effect" in text else f.__name__
    assert f"{name} (test_refusals.py:" in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "text"),
    [(Mode(), "a Mode"), (len, "the function len"), ((1, {2: 3}), "a tuple"), (np.array("text"), "an array")],
    ids=["an object", "a function", "a dict within", "texts"],
)
def test_parameters(mode, text, primitive):
    e = export(ad.jit(lambda x: primitive(x, mode=mode)))(X)
    with pytest.raises(errors.ExportError, match=f"the parameter 'mode' of doubled_for_export .*: {text}"):
        e.serialize()


@pytest.mark.parametrize(
    "mode",
    [
        None, True, -3, 2.5, float("inf"), 1j, "text", (), (1, (2.0, [None, "a"])), slice(1, None, -1), ..., X,
        np.float32(2), np.dtype(np.int8), np.complex64, [np.ones((2, 0), np.int16)],
    ],
    ids=repr,
)  # fmt: skip
def test_parameters_that_can_be_stored(mode, primitive):
    loaded = deserialize(export(ad.jit(lambda x: primitive(x, mode=mode)))(X).serialize())
    got = loaded.jaxpr.eqns[0].params["mode"]
    assert type(got) is type(mode) and str(got) == str(mode)
    assert same(loaded.call(X), X + X)


def test_primitives_that_are_not_registered(primitive):
    data = export(ad.jit(lambda x: primitive(x, mode=None)))(X).serialize()
    ad.registry.remove(primitive)
    try:
        with pytest.raises(errors.ExportError, match=r"calls the primitive 'doubled_for_export' of '.*test_refusals'"):
            deserialize(data)
        with pytest.raises(errors.ExportError, match="doubled_for_export, which is not in the registry"):
            export(ad.jit(lambda x: primitive(x, mode=None)))(X).serialize()
    finally:
        ad.registry.add(primitive)
    assert same(deserialize(data).call(X), X + X)


def test_primitives_that_load_on_first_use():
    data = export(ad.jit(lambda x: ad.scipy.special.gammaln(x)))(X).serialize()
    code = "import sys, autodidax.export as e; print(e.deserialize(sys.stdin.buffer.read()).call([.5, 1.0, 2.0]))"
    code = code.replace("[.5, 1.0, 2.0]", "__import__('numpy').array([.5, 1.0, 2.0])")
    run = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=False)
    assert run.stdout.decode().strip() == str(ad.scipy.special.gammaln(X)), run.stderr


def test_a_changed_primitive(primitive, monkeypatch):
    data = export(ad.jit(lambda x: primitive(x, mode=None)))(X).serialize()
    monkeypatch.setattr(type(primitive), "abstract_eval", lambda self, x, *, mode: x.update(shape=(7,)))
    with pytest.raises(errors.ExportError, match=r"does not fit the primitives that are registered here.*autodidax 0"):
        deserialize(data)
    monkeypatch.setattr(type(primitive), "abstract_eval", lambda self, x: x)
    with pytest.raises(errors.ExportError, match="unexpected keyword argument 'mode'"):
        deserialize(data)


# files

DATA = export(ad.jit(lambda x: ad.lax.scan(lambda c, r: (tilted(c * r), c + X[:2]), 1.0, x)))(X).serialize()


def sealed(version, body):
    """A file with the right checksum."""
    head = struct.pack("<I", version)
    return MAGIC + head + hashlib.sha256(head + body).digest() + body


def rewritten(table, blob):
    text = json.dumps(table).encode()
    return sealed(VERSION, struct.pack("<Q", len(text)) + text + blob)


def opened(data):
    body = data[len(MAGIC) + 36 :]
    length = int.from_bytes(body[:8], "little")
    return json.loads(body[8 : 8 + length]), body[8 + length :]


FILES = {
    "empty": (b"", "no program of autodidax"),
    "a pickle": (b"\x80\x04\x95", "no program of autodidax"),
    "a part of the head": (MAGIC[:5], "no program of autodidax"),
    "the head alone": (MAGIC, "it ends within its head"),
    "cut short": (DATA[:-1], "its checksum"),
    "longer": (DATA + b"x", "its checksum"),
    "as text": (DATA.replace(b"\n", b"\r\n"), "no program of autodidax"),
    "no bytes": ("text", "loaded from bytes, got str"),
    "a newer version": (sealed(VERSION + 1, b"what later versions hold"), f"in version {VERSION + 1} of the format"),
    "version 0": (sealed(0, DATA[len(MAGIC) + 36 :]), "its table is not whole"),
    "no table": (sealed(VERSION, b""), "its table is not whole|JSONDecodeError"),
    "a list": (sealed(VERSION, struct.pack("<Q", 2) + b"[]"), "its table is none"),
    "an empty table": (rewritten({}, b""), "KeyError"),
}


@pytest.mark.parametrize(("data", "text"), FILES.values(), ids=FILES)
def test_foreign_and_damaged_files(data, text):
    with pytest.raises(errors.ExportError, match=text) as caught:
        deserialize(data)
    assert caught.value.mend


@pytest.mark.parametrize("kind", [bytearray, memoryview], ids=lambda kind: kind.__name__)
def test_other_kinds_of_bytes(kind):
    assert deserialize(kind(DATA)).fun_name == "<lambda>"


def test_a_jaxpr_is_no_exported_function():
    _, (data,) = ad.make_jaxpr(np.sin)(X).__reduce__()
    with pytest.raises(errors.ExportError, match="holds 'jaxpr', not 'exported function'"):
        deserialize(data)


def test_flipped_bytes_and_cut_files():
    for seed in range(500):
        rng = random.Random(seed)
        data = bytearray(DATA)
        for _ in range(rng.choice([1, 1, 2, 10])):
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        with pytest.raises(errors.ExportError):
            deserialize(data)


# files that are made on purpose, with the right checksum


def places(coded, path=()):
    """All places in a table."""
    items = coded.items() if isinstance(coded, dict) else enumerate(coded) if isinstance(coded, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


STRANGE = [None, True, -1, 0, 1, 2, 7, 10**30, 0.5, "", "f4", "<f4", "?0", "x", "cond", "sin", [], [0], [[0]], {},
           ["tuple", 1], ["array", 0], ["program", 0], ["size", 0], ["slot", 1], ["missing", 0, "rule"],
           ["x", 1]]  # fmt: skip


def changed(table, rng):
    """The table with one thing in it changed, taken away or moved."""
    table = json.loads(json.dumps(table))
    everywhere = list(places(table))
    *path, key = rng.choice(everywhere)
    parent = table
    for step in path:
        parent = parent[step]
    how = rng.random()
    if how < 0.15:
        del parent[key]
    elif how < 0.3:
        other = table
        for step in rng.choice(everywhere):
            other = other[step]
        parent[key] = json.loads(json.dumps(other))
    elif how < 0.5 and type(parent[key]) is int:
        parent[key] += rng.choice([-1, 1])
    else:
        parent[key] = rng.choice(STRANGE)
    return table


@pytest.mark.parametrize(
    "name", ["custom rules in a loop", "indexing", "a gradient of a while", "cond", "trees", "an ODE"]
)
def test_changed_tables_are_refused_or_sound(name):
    f, *args = PROGRAMS[name]
    table, blob = opened(export(ad.jit(f))(*args).serialize(1))
    refused = 0
    for seed in range(120):
        data = rewritten(changed(table, random.Random(seed)), blob)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                loaded = deserialize(data)
            except errors.ExportError:
                refused += 1
            else:
                assert isinstance(loaded, Exported) and str(loaded.jaxpr)
                ad.core.jaxpr.check_jaxpr(loaded.jaxpr)
    assert refused > 60


def test_parameters_are_no_code():
    # parameters become keywords in the text of a compiled program
    table, blob = opened(export(ad.jit(lambda x: anp.sum(x, axis=0)))(X).serialize())
    (eqn,) = table["programs"][0]["eqns"]
    for name in ["axes=print(1) or (0,), other", "class", "a b", ""]:
        eqn[3] = {name: ["tuple", 0]}
        with pytest.raises(errors.ExportError, match="is no parameter"):
            deserialize(rewritten(table, blob))


@pytest.mark.parametrize(
    "module", ["this", "antigravity", "os", "autodidax.__main__", "autodidax.testing.x; import os", 3]
)
def test_modules_of_a_file_are_not_imported(module):
    table, blob = opened(DATA)
    table["primitives"][0] = ["a_primitive_of_somebody", module]
    before = set(sys.modules)
    with pytest.raises(errors.ExportError, match="'a_primitive_of_somebody'"):
        deserialize(rewritten(table, blob))
    assert set(sys.modules) == before


@pytest.mark.parametrize("name", ["pure_callback", "io_callback", "debug_callback"])
def test_host_functions_do_not_come_out_of_files(name):
    table, blob = opened(export(ad.jit(np.sin))(X).serialize())
    table["primitives"][0] = [name, "autodidax.transforms.callbacks"]
    table["programs"][0]["eqns"][0][3] = {"callback": "print", "method": None}
    with pytest.raises(errors.ExportError):
        deserialize(rewritten(table, blob))


@pytest.mark.parametrize("dtype", ["|O", "|S3", "<U2", "|V4", "<M8[s]", "f8", "<f5", "O", None])
def test_arrays_of_objects_are_refused(dtype):
    table, blob = opened(DATA)
    table["arrays"][0]["dtype"] = dtype
    with pytest.raises(errors.ExportError, match="is no dtype"):
        deserialize(rewritten(table, blob))


def test_a_program_within_itself():
    table, blob = opened(export(ad.jit(ad.jit(np.sin)))(X).serialize())
    for program in table["programs"]:
        for eqn in program["eqns"]:
            if "jaxpr" in eqn[3]:
                eqn[3]["jaxpr"] = ["program", table["main"]]
    with pytest.raises(errors.ExportError, match="IndexError"):
        deserialize(rewritten(table, blob))


def test_programs_are_checked_once():
    """Each of fifty programs calls the one before it twice: walking through all calls would take for ever."""
    f = lambda x: anp.sin(x)
    table, blob = opened(export(ad.jit(lambda x: ad.jit(f)(x)))(X).serialize())
    outer = table["programs"][1]
    ((number, operands, outs, params, quiet, source),) = outer["eqns"]
    for k in range(1, 50):
        inner = params | {"jaxpr": ["program", k]}
        eqns = [[number, operands, outs, inner, quiet, source], [number, [1], outs, inner, quiet, source]]
        table["programs"].append(outer | {"eqns": eqns, "outvars": [2]})
    table["main"] = 50
    assert deserialize(rewritten(table, blob)).fun_name == "<lambda>"


def test_unpack_is_the_inverse_of_pack():
    table, arrays = unpack(DATA)
    assert table["kind"] == "exported function"
    assert same(arrays[0], X[:2])
