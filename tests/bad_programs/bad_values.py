"""Arrays that are not arrays of numbers, and dtypes that an operation does not take."""

import datetime

import numpy as np
import scipy.sparse

import autodidax.numpy as anp
from autodidax import grad, jit, jvp, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(
    TypeError,
    """
    DtypeError: argument 'x' of <lambda> is an array of shape (2,) and dtype object, which cannot be traced
      in: objects (here), under grad of <lambda>
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def objects():
    grad(lambda x: np.sum(x))(np.array([1.0, None]))  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: argument 'x' of <lambda> is an array of shape (2,) and dtype <U1, which cannot be traced
      in: strings (here)
      mend: pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them
    """,
)
def strings():
    jit(lambda x: x)(np.array(["a", "b"]))  # <- here


@bad(
    TypeError,
    """
    DtypeError: argument 't' of <lambda> is an array of shape (1,) and dtype datetime64[D], which cannot be
            traced
      in: dates (here), under grad of <lambda>
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def dates():
    grad(lambda t: np.sum(t))(np.array(["2020-01-01"], "datetime64[D]"))  # <- here


@bad(
    TypeError,
    """
    DtypeError: argument 't' of <lambda> is a timedelta, which cannot be traced
      in: duration (here), under grad of <lambda>
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def duration():
    grad(lambda t: t)(datetime.timedelta(days=1))  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: argument 'x' of <lambda> is an array of shape (2,) and dtype [('a', '<f8')], which cannot
            be traced
      in: records (here)
      mend: pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them
    """,
)
def records():
    jit(lambda x: x["a"])(np.ones(2, [("a", float)]))  # <- here


@bad(
    TypeError,
    """
    DtypeError: argument 'x' of <lambda> is a masked array, whose mask would be lost
      in: masked_array (here), under grad of <lambda>
      mend: pass x.filled(value) and the mask as separate arrays
    """,
)
def masked_array():
    grad(lambda x: np.sum(x))(np.ma.array(X, mask=[0, 1, 0]))  # <- here


@bad(
    TypeError,
    """
    DtypeError: a traced value meets an operand of type MaskedArray (a subclass of arrays with operators of its
            own), which is no array of numbers
      in: <lambda> (here), under grad of <lambda>
      mend: give x.filled(value), and the mask apart
    """,
)
def masked_array_as_an_operand():
    data = np.ma.array(X, mask=[0, 1, 0])
    grad(lambda x: np.sum(x * data))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: argument 'a' of <lambda> is a matrix, whose operators are not those of arrays
      in: matrix_of_numpy (here), under grad of <lambda>
      mend: pass np.asarray(x)
    """,
)
def matrix_of_numpy():
    grad(lambda a: np.sum(a * a))(np.ones((2, 2)).view(np.matrix))  # <- here


@bad(
    TypeError,
    """
    DtypeError: argument 'a' of <lambda> is a dia_array, which cannot be traced
      in: sparse_argument (here), under grad of <lambda>
      mend: give the dense array, x.toarray(), or close over it
    """,
)
def sparse_argument():
    grad(lambda a: (a @ X).sum())(scipy.sparse.eye_array(3))  # <- here


@bad(
    TypeError,
    """
    TracerArrayConversionError: scipy.sparse: a traced value (f64[3]) cannot become a plain NumPy array under
            grad of <lambda>: its derivative would be lost
      in: <lambda> (here), under grad of <lambda>
      mend: write A.toarray() @ x for the product with a sparse array A
    """,
)
def sparse_operand():
    a = scipy.sparse.csr_array(np.eye(3))
    grad(lambda x: np.sum(a @ x))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: a traced value meets an operand of type csr_array, which is no array of numbers
      in: <lambda> (here), under grad of <lambda>
      mend: give the dense array: A.toarray()
    """,
)
def sparse_operand_on_the_right():
    a = scipy.sparse.csr_array(np.eye(3))
    grad(lambda x: np.sum(x @ a))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: argument 'df' of <lambda> is a DataFrame, which cannot be traced
      in: frame_of_pandas (here)
      mend: give x.to_numpy()
    """,
)
def frame_of_pandas():
    class DataFrame:
        def to_numpy(self):
            return X

    jit(lambda df: df)(DataFrame())  # <- here


@bad(
    TypeError,
    """
    DtypeError: a traced value meets an operand of type None, which is no array of numbers
      in: loss (here), under grad of loss
      mend: give a number, or leave the operation out where it is None
    """,
)
def none_as_an_operand():
    def loss(x, bias=None):
        return np.sum(x + bias)  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    DtypeError: a traced value meets an operand of type str, which is no array of numbers
      in: <lambda> (here), under grad of <lambda>
      mend: convert it with float() first
    """,
)
def string_as_an_operand():
    grad(lambda x: x * "2")(1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: a traced value meets an operand of type dict, which is no array of numbers
      in: <lambda> (here), under grad of <lambda>
      mend: apply the operation to every leaf: autodidax.tree.map(f, tree)
    """,
)
def dict_as_an_operand():
    grad(lambda x: np.sum(x * {"a": 1.0}))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: a traced value meets an operand of type ufunc, which is no array of numbers
      in: <lambda> (here), under grad of <lambda>
      mend: call the function first, as f(x)
    """,
)
def function_as_an_operand():
    grad(lambda x: np.sin * x)(1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: exp takes arrays, it was given a dict
      in: <lambda> (here), under grad of <lambda>
      mend: apply it to every leaf: autodidax.tree.map(np.exp, x)
    """,
)
def function_of_a_tree():
    grad(lambda p: np.sum(np.exp(p)))({"w": X})  # <- here


@bad(
    TypeError,
    """
    DtypeError: bitwise_and does not take the dtypes of its operands
      in: <lambda> (here), under jit of <lambda>
      mend: bits are those of integers and booleans: compare first, (x > 0) & (y > 0), or convert with
            astype(int)
    """,
)
def bits_of_floats():
    jit(lambda x: x & 1)(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: << does not take float and int
      in: <lambda> (here), under jit of <lambda>
      mend: bits are those of integers and booleans: compare first, (x > 0) & (y > 0), or convert with
            astype(int)
    """,
)
def shift_of_floats():
    jit(lambda x: x << 1)(2.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: invert does not take the dtypes of its operands
      in: <lambda> (here), under grad of <lambda>
      mend: bits are those of integers and booleans: compare first, (x > 0) & (y > 0), or convert with
            astype(int)
    """,
)
def inverse_of_floats():
    grad(lambda x: np.sum(~x))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: sub does not take dtypes bool and bool
      in: <lambda> (here), under jit of <lambda>
      mend: booleans are combined with &, | and ^: write x ^ y, or convert with astype(int)
    """,
)
def difference_of_booleans():
    jit(lambda p: p - p)(X > 0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: floor does not take the dtypes of its operands
      in: <lambda> (here), under grad of <lambda>
      mend: apply it to np.real(z) and np.imag(z) where operands are complex, else convert them with astype
    """,
)
def floor_of_a_complex_number():
    grad(lambda z: np.abs(np.floor(z)))(1.5 + 2.0j)  # <- here


@bad(
    TypeError,
    """
    DtypeError: arctan2 does not take dtypes complex128 and complex128
      in: <lambda> (here), under jit of <lambda>
      mend: apply it to np.real(z) and np.imag(z) where operands are complex, else convert them with astype
    """,
)
def arctan2_of_complex_numbers():
    jit(lambda z: np.arctan2(z, z))(1.0 + 1.0j)  # <- here


@bad(
    TypeError,
    """
    DtypeError: a traced value meets an operand of type None, which is no array of numbers
      in: <lambda> (here), under jit of <lambda>
      mend: give a number, or leave the operation out where it is None
    """,
)
def array_of_objects_made_inside():
    jit(lambda x: anp.array([x, None]))(1.0)  # <- here


@bad(
    TypeError,
    """
    UnsupportedError: exp: where= leaves the other entries without a value, as no out= can be given on traced
            values
      in: <lambda> (here), under grad of <lambda>
      mend: write where(mask, exp(...), other)
    """,
)
def keyword_that_is_not_supported():
    grad(lambda x: np.sum(np.exp(x, where=x > 0)))(X)  # <- here


@bad(
    AttributeError,
    """
    MissingAttributeError: Traced<f64[3]> by grad of <lambda> has no attribute 'summ'
      in: <lambda> (here), under grad of <lambda>
      mend: did you mean 'sum'?
    """,
)
def attribute_that_does_not_exist():
    grad(lambda x: x.summ())(X)  # <- here


@bad(
    TypeError,
    """
    MissingAttributeError: Traced<f64[3]> by vmap of <lambda> over axis 0 of size 2 has no attribute 'append'
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 2
      mend: write np.append(x, v), or collect values in a list and np.stack it
    """,
)
def method_that_does_not_exist_under_vmap():
    vmap(lambda x: x.append(1.0))(np.ones((2, 3)))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: a traced value was called like a function
      in: <lambda> (here), under jit of <lambda>
      mend: write x[i] for an entry, x * y for a product; close over functions, or make them static arguments
    """,
)
def call_of_a_traced_value():
    jit(lambda x: x(2))(1.0)  # <- here


@bad(
    TypeError,
    """
    IndexDtypeError: an array is indexed with str; indices are integers, booleans, slices, None and Ellipsis
      in: <lambda> (here), under grad of <lambda>
      mend: names are keys of dicts: pass a dict of arrays
    """,
)
def string_index():
    grad(lambda x: x["w"])(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: jvp: tangent 0 is a str, which cannot be traced
      in: tangent_that_is_a_string (here)
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def tangent_that_is_a_string():
    jvp(np.sin, (1.0,), ("x",))  # <- here
