"""Arrays that are not arrays of numbers, and dtypes that an operation does not take."""

import datetime

import numpy as np
import scipy.sparse

import autodidax.numpy as anp
from autodidax import grad, jit, jvp, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(TypeError)
def objects():
    grad(lambda x: np.sum(x))(np.array([1.0, None]))  # <- here


@bad(TypeError)
def strings():
    jit(lambda x: x)(np.array(["a", "b"]))  # <- here


@bad(TypeError)
def dates():
    grad(lambda t: np.sum(t))(np.array(["2020-01-01"], "datetime64[D]"))  # <- here


@bad(TypeError)
def duration():
    grad(lambda t: t)(datetime.timedelta(days=1))  # <- here


@bad(TypeError)
def records():
    jit(lambda x: x["a"])(np.ones(2, [("a", float)]))  # <- here


@bad(TypeError)
def masked_array():
    grad(lambda x: np.sum(x))(np.ma.array(X, mask=[0, 1, 0]))  # <- here


@bad(TypeError)
def masked_array_as_an_operand():
    data = np.ma.array(X, mask=[0, 1, 0])
    grad(lambda x: np.sum(x * data))(X)  # <- here


@bad(TypeError)
def matrix_of_numpy():
    grad(lambda a: np.sum(a * a))(np.ones((2, 2)).view(np.matrix))  # <- here


@bad(TypeError)
def sparse_argument():
    grad(lambda a: (a @ X).sum())(scipy.sparse.eye_array(3))  # <- here


@bad(TypeError)
def sparse_operand():
    a = scipy.sparse.csr_array(np.eye(3))
    grad(lambda x: np.sum(a @ x))(X)  # <- here


@bad(TypeError)
def sparse_operand_on_the_right():
    a = scipy.sparse.csr_array(np.eye(3))
    grad(lambda x: np.sum(x @ a))(X)  # <- here


@bad(TypeError)
def frame_of_pandas():
    class DataFrame:
        def to_numpy(self):
            return X

    jit(lambda df: df)(DataFrame())  # <- here


@bad(TypeError)
def none_as_an_operand():
    def loss(x, bias=None):
        return np.sum(x + bias)  # <- here

    grad(loss)(X)


@bad(TypeError)
def string_as_an_operand():
    grad(lambda x: x * "2")(1.0)  # <- here


@bad(TypeError)
def dict_as_an_operand():
    grad(lambda x: np.sum(x * {"a": 1.0}))(X)  # <- here


@bad(TypeError)
def function_as_an_operand():
    grad(lambda x: np.sin * x)(1.0)  # <- here


@bad(TypeError)
def function_of_a_tree():
    grad(lambda p: np.sum(np.exp(p)))({"w": X})  # <- here


@bad(TypeError)
def integer_too_large():
    grad(lambda x: x * 10**30)(1.0)  # <- here


@bad(TypeError)
def long_double():
    grad(lambda x: np.sum(x**2))(X.astype(np.longdouble))  # <- here


@bad(TypeError)
def bits_of_floats():
    jit(lambda x: x & 1)(X)  # <- here


@bad(TypeError)
def shift_of_floats():
    jit(lambda x: x << 1)(2.0)  # <- here


@bad(TypeError)
def inverse_of_floats():
    grad(lambda x: np.sum(~x))(X)  # <- here


@bad(TypeError)
def difference_of_booleans():
    jit(lambda p: p - p)(X > 0)  # <- here


@bad(TypeError)
def floor_of_a_complex_number():
    grad(lambda z: np.abs(np.floor(z)))(1.5 + 2.0j)  # <- here


@bad(TypeError)
def arctan2_of_complex_numbers():
    jit(lambda z: np.arctan2(z, z))(1.0 + 1.0j)  # <- here


@bad(TypeError)
def dtype_that_is_unknown():
    grad(lambda x: np.sum(x.astype("float33")))(X)  # <- here


@bad(TypeError)
def array_of_objects_made_inside():
    jit(lambda x: anp.array([x, None]))(1.0)  # <- here


@bad(TypeError)
def power_with_a_modulus():
    jit(lambda x: pow(x, 2, 7))(3)  # <- here


@bad(TypeError)
def keyword_that_is_not_supported():
    grad(lambda x: np.sum(np.exp(x, where=x > 0)))(X)  # <- here


@bad(TypeError)
def function_without_a_traced_version():
    grad(lambda x: np.sum(np.convolve(x, X)))(X)  # <- here


@bad(TypeError)
def eigenvalues_under_grad():
    grad(lambda a: np.sum(np.abs(np.linalg.eigvals(a))))(np.eye(2))  # <- here


@bad(AttributeError)
def attribute_that_does_not_exist():
    grad(lambda x: x.summ())(X)  # <- here


@bad(TypeError)
def method_that_does_not_exist_under_vmap():
    vmap(lambda x: x.append(1.0))(np.ones((2, 3)))  # <- here


@bad(TypeError)
def call_of_a_traced_value():
    jit(lambda x: x(2))(1.0)  # <- here


@bad(TypeError)
def string_index():
    grad(lambda x: x["w"])(X)  # <- here


@bad(TypeError)
def tangent_that_is_a_string():
    jvp(np.sin, (1.0,), ("x",))  # <- here
