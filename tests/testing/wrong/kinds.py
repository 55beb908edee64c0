"""Results of the wrong dtype, shape, number or structure; zeros and Nones that are none."""

import numpy as np

from tests.testing.wrong.case import Case, forward, normal, reverse

X = normal(6)
XY = normal(4, 4)


def single(*shapes):
    return lambda rng: tuple(rng.standard_normal(s).astype(np.float32) for s in shapes)


def single_complex(rng):
    return ((rng.standard_normal(5) + 1j * rng.standard_normal(5)).astype(np.complex64),)


def layer_args(rng):
    p = {"b": rng.standard_normal(3), "w": rng.standard_normal(3)}
    return (p,)


def layer(p):
    return p["w"] * np.sin(p["b"])


def layer_pullback(p):
    return layer(p), lambda ct: ({"b": ct * p["w"] * np.cos(p["b"]), "w": ct * np.sin(p["b"])},)


def layer_swapped(p):
    return layer(p), lambda ct: ({"w": ct * p["w"] * np.cos(p["b"]), "b": ct * np.sin(p["b"])},)


def layer_tuple(p):
    return layer(p), lambda ct: ((ct * p["w"] * np.cos(p["b"]), ct * np.sin(p["b"])),)


def layer_part(p):
    return layer(p), lambda ct: ({"b": ct * p["w"] * np.cos(p["b"])},)


def product_vjp(x, y, ct):
    return ct * y, ct * x


def product_pullback(x, y):
    return x * y, lambda ct: (ct * y, ct * x)


def product_push(primals, tangents):
    (x, y), (tx, ty) = primals, tangents
    return x * y, tx * y + x * ty


def scaled_by_integer(x, n):
    return x * n


def integer_args(rng):
    return rng.standard_normal(4), 3


def two(x):
    return np.sin(x), np.cos(x)


def two_push(primals, tangents):
    (x,), (t,) = primals, tangents
    return two(x), (t * np.cos(x), -t * np.sin(x))


CASES = [
    reverse(
        "float32 in between", np.sin, lambda x, ct: ct * np.cos(x),
        lambda x, ct: (ct * np.cos(x.astype(np.float32))).astype(x.dtype), X),
    forward(
        "float32 in between, forward", np.exp, lambda x, t: t * np.exp(x),
        lambda x, t: (t * np.exp(x.astype(np.float32))).astype(x.dtype), X),
    reverse("float16 table", np.sin, lambda x, ct: ct * np.cos(x), lambda x, ct: ct * np.cos(x).astype(np.float16), X),
    reverse(
        "float32 cotangent of a float64 input", np.sin, lambda x, ct: ct * np.cos(x),
        lambda x, ct: (ct * np.cos(x)).astype(np.float32), X),
    forward(
        "float32 tangent of a float64 output", np.sin, lambda x, t: t * np.cos(x),
        lambda x, t: (t * np.cos(x)).astype(np.float32), X),
    reverse(
        "float64 cotangent of a float32 input", lambda x: x * np.float32(1.5), lambda x, ct: ct * np.float32(1.5),
        lambda x, ct: ct * np.float64(1.5), single(5)),
    forward(
        "float64 tangent of a float32 output", lambda x: x * np.float32(1.5), lambda x, t: t * np.float32(1.5),
        lambda x, t: t * np.float64(1.5), single(5)),
    reverse(
        "complex128 cotangent of a complex64 input", lambda z: z * z, lambda z, ct: ct * 2 * z,
        lambda z, ct: (ct * 2 * z).astype(np.complex128), single_complex),
    reverse(
        "integer zeros", np.round, lambda x, ct: np.zeros_like(x), lambda x, ct: np.zeros(x.shape, int),
        lambda rng: (rng.uniform(0.1, 0.4, 5),)),
    forward(
        "boolean tangent", lambda x: np.where(x > 0, 1.0, 0.0), lambda x, t: np.zeros_like(x),
        lambda x, t: np.zeros(x.shape, bool), X),
    reverse(
        "complex cotangent with no imaginary part", np.sin, lambda x, ct: ct * np.cos(x),
        lambda x, ct: ct * np.cos(x) + 0j, X),
    reverse("mean, scalar", np.mean, lambda x, ct: ct / 6 * np.ones(6), lambda x, ct: ct / 6, X),
    reverse("sum, kept axis", np.sum, lambda x, ct: ct * np.ones(6), lambda x, ct: ct * np.ones((1, 6)), X),
    reverse("column for a vector", np.sin, lambda x, ct: ct * np.cos(x), lambda x, ct: (ct * np.cos(x))[:, None], X),
    reverse(
        "cotangent of a broadcast operand, not summed", np.add, lambda x, y, ct: (ct, ct.sum(axis=0)),
        lambda x, y, ct: (ct, ct), normal((3, 4), 4)),
    reverse(
        "cotangent of a 0-d operand in a vector", np.multiply, lambda x, y, ct: (np.sum(ct * y), ct * x),
        lambda x, y, ct: (np.sum(ct * y, keepdims=True), ct * x),
        lambda rng: (rng.standard_normal(), rng.standard_normal(4))),
    reverse("list for an array", np.sin, lambda x, ct: ct * np.cos(x), lambda x, ct: (list(ct * np.cos(x)),), X),
    reverse("zero as a Python number", lambda x: 0 * x, lambda x, ct: np.zeros_like(x), lambda x, ct: 0.0, X),
    forward("tangent of one entry", np.sin, lambda x, t: t * np.cos(x), lambda x, t: (t * np.cos(x))[:1], X),
    forward("tangent of a sum, not summed", np.sum, lambda x, t: np.sum(t), lambda x, t: t, X),
    reverse("one cotangent for two arguments", np.multiply, product_vjp, lambda x, y, ct: (ct * y,), XY),
    reverse("a bare cotangent for two arguments", np.multiply, product_vjp, lambda x, y, ct: ct * y, XY),
    reverse("three cotangents for two arguments", np.multiply, product_vjp, lambda x, y, ct: (ct * y, ct * x, ct), XY),
    reverse(
        "a bare cotangent from a pullback", np.multiply, product_pullback, lambda x, y: (x * y, lambda ct: ct * y), XY,
        form="pullback"),
    reverse(
        "three cotangents from a pullback", np.multiply, product_pullback,
        lambda x, y: (x * y, lambda ct: (ct * y, ct * x, None)), XY, form="pullback"),
    reverse(
        "arguments exchanged", np.multiply, product_pullback, lambda x, y: (x * y, lambda ct: (ct * x, ct * y)), XY,
        form="pullback"),
    reverse("dictionary with its entries exchanged", layer, layer_pullback, layer_swapped, layer_args, form="pullback"),
    reverse("tuple for a dictionary", layer, layer_pullback, layer_tuple, layer_args, form="pullback"),
    reverse("dictionary with an entry missing", layer, layer_pullback, layer_part, layer_args, form="pullback"),
    reverse("None for the second argument", np.multiply, product_vjp, lambda x, y, ct: (ct * y, None), XY),
    reverse("zeros for the first argument", np.multiply, product_vjp, lambda x, y, ct: (np.zeros_like(x), ct * x), XY),
    forward(
        "None for the tangent", np.multiply, product_push, lambda primals, tangents: (primals[0] * primals[1], None),
        XY, form="pullback"),
    forward(
        "one tangent for two outputs", two, two_push, lambda primals, tangents: (two(*primals), tangents[0]), X,
        form="pullback"),
    forward(
        "tangents of the outputs exchanged", two, two_push,
        lambda primals, tangents: (two(*primals), two_push(primals, tangents)[1][::-1]), X, form="pullback"),
    forward(
        "another value than the function's", np.multiply, product_push,
        lambda primals, tangents: (primals[0] + primals[1], product_push(primals, tangents)[1]), XY, form="pullback"),
    reverse(
        "a value that is a little off", np.multiply, product_pullback,
        lambda x, y: (x * y * (1 + 1e-9), product_pullback(x, y)[1]), XY, form="pullback"),
    reverse(
        "a value in float32", np.multiply, product_pullback,
        lambda x, y: ((x * y).astype(np.float32), product_pullback(x, y)[1]), XY, form="pullback"),
    Case(
        "an integer argument's factor missing", scaled_by_integer, integer_args,
        vjp=lambda x, n: (x * n, lambda ct: (ct * n, None)), wrong_vjp=lambda x, n: (x * n, lambda ct: (ct, None)),
        form="pullback"),
    reverse(
        "raises for zeros", np.sin, lambda x, ct: ct * np.cos(x), lambda x, ct: ct * np.cos(x) if np.any(ct) else 1 / 0,
        X),
    reverse(
        "nan for a zero cotangent", np.sin, lambda x, ct: ct * np.cos(x),
        lambda x, ct: ct * np.cos(x) if np.any(ct) else ct * np.nan, X),
]  # fmt: skip
