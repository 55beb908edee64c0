"""Operands whose shapes do not fit, indices out of range, matrices that have no inverse."""

import numpy as np

import autodidax.numpy as anp
import autodidax.scipy.linalg
from autodidax import grad, jit, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
M = np.arange(6.0).reshape(2, 3)


@bad(
    ValueError,
    """
    ShapeError: matmul: shapes (2, 3) and (2, 3): the last axis of the first has 3 entries, and the second to
            last axis of the second has 2
      in: loss (here), under grad of loss
      mend: transpose one operand, so that these two sizes agree
    """,
)
def product_of_matrices():
    def loss(w):
        return np.sum(w @ M)  # <- here

    grad(loss)(M)


@bad(
    ValueError,
    """
    ShapeError: matmul: shapes (2, 3) and (2,): the last axis of the first has 3 entries, and the only axis of
            the second has 2
      in: <lambda> (here), under grad of <lambda>
      mend: transpose one operand, so that these two sizes agree
    """,
)
def product_of_matrix_and_vector():
    grad(lambda w: np.sum(M @ w))(np.ones(2))  # <- here


@bad(
    ValueError,
    """
    ShapeError: matmul: shapes (2, 3) and (): a scalar is no matrix
      in: <lambda> (here), under grad of <lambda>
      mend: multiply with * where an operand is a scalar
    """,
)
def product_with_a_number():
    grad(lambda s: np.sum(M @ s))(2.0)  # <- here


@bad(
    ValueError,
    """
    ShapeError: np.dot: shapes (3,) and (4,): the last axis of the first has 3 entries, and the only axis of the
            second has 4
      in: <lambda> (here), under grad of <lambda>
      mend: give vectors of one length
    """,
)
def dot_of_vectors():
    grad(lambda x: np.dot(x, np.ones(4)))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: einsum 'ij,jk->ik': shapes (2, 3) and (2, 3): label 'j' has sizes 3 and 2
      in: <lambda> (here), under grad of <lambda>
      mend: let axes of one label have one size (size 1 broadcasts, except along a diagonal)
    """,
)
def einsum_sizes():
    grad(lambda x: np.sum(np.einsum("ij,jk->ik", x, M)))(M)  # <- here


@bad(
    ValueError,
    """
    ArgumentError: einsum 'ij,jk->ik': 2 operands are named and 1 given
      in: <lambda> (here), under grad of <lambda>
      mend: separate the labels of each operand by a comma
    """,
)
def einsum_operands():
    grad(lambda x: np.einsum("ij,jk->ik", x))(M)  # <- here


@bad(
    ValueError,
    """
    ShapeError: einsum 'ijk->': 'ijk' has 3 labels for an operand of shape (2, 3)
      in: <lambda> (here), under grad of <lambda>
      mend: give one label an axis, or an ellipsis for the rest
    """,
)
def einsum_rank():
    grad(lambda x: np.einsum("ijk->", x))(M)  # <- here


@bad(
    ValueError,
    """
    ShapeError: concatenate: all the input array dimensions except for the concatenation axis must match
            exactly, but along dimension 1, the array at index 0 has size 3 and the array at index 1 has size 4
      in: <lambda> (here), under grad of <lambda>
      mend: bring the arrays to one size in all axes but the one that is joined
    """,
)
def concatenate_sizes():
    grad(lambda x: np.sum(np.concatenate([x, np.ones((2, 4))])))(M)  # <- here


@bad(
    ValueError,
    """
    ShapeError: stack: all input arrays must have the same shape
      in: <lambda> (here), under grad of <lambda>
      mend: bring the arrays to one shape
    """,
)
def stack_shapes():
    grad(lambda x: np.sum(np.stack([x, np.ones(4)])))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: concatenate: zero-dimensional arrays cannot be concatenated
      in: <lambda> (here), under grad of <lambda>
      mend: use np.stack for numbers alone, np.atleast_1d(x) for a number among vectors
    """,
)
def concatenate_of_numbers():
    grad(lambda x: np.sum(np.concatenate([x, 1.0])))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: sub: shapes (2, 3) and (3, 2) do not broadcast: axis -1 has 3 and 2
      in: residual (here), under grad of residual
      mend: transpose one operand, or add an axis of size 1
    """,
)
def broadcast():
    def residual(x, y):
        return np.sum((x - y) ** 2)  # <- here

    grad(residual)(M, np.ones((3, 2)))


@bad(
    ValueError,
    """
    ShapeError: sub: shapes (3,) and (2,) do not broadcast: axis -1 has 3 and 2
      in: residual (here), under vmap of residual over axis 0 of size 2
      mend: transpose one operand, or add an axis of size 1
    """,
)
def broadcast_under_vmap():
    def residual(x):
        return x - np.ones(2)  # <- here

    vmap(residual)(M)


@bad(
    ValueError,
    """
    ShapeError: mul: shapes (2, 3) and (2,) do not broadcast: axis -1 has 3 and 2
      in: <lambda> (here), under jit of <lambda>
      mend: transpose one operand, or add an axis of size 1
    """,
)
def broadcast_under_jit():
    jit(lambda x, y: x * y)(M, np.ones(2))  # <- here


@bad(
    ValueError,
    """
    ShapeError: broadcast_to: could not broadcast input array from shape (3,) into shape (2,2)
      in: <lambda> (here), under grad of <lambda>
      mend: add axes of size 1, or give a shape that ends with that of the array
    """,
)
def broadcast_to_shape():
    grad(lambda x: np.sum(np.broadcast_to(x, (2, 2))))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: reshape: cannot reshape array of size 3 into shape (4,)
      in: <lambda> (here), under grad of <lambda>
      mend: give sizes whose product is the size of the array, or -1 for one of them
    """,
)
def reshape_size():
    grad(lambda x: np.sum(x.reshape(4)))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: reshape: shape (3,) has 3 entries, which do not fill (-1, 2)
      in: <lambda> (here), under jit of <lambda>
      mend: leave one axis at most to be worked out (-1), and give sizes whose product divides the size
    """,
)
def reshape_with_minus_one():
    jit(lambda x: x.reshape(-1, 2))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: reshape: shape (3,) has 3 entries, which do not fill (-1, -1)
      in: <lambda> (here), under jit of <lambda>
      mend: leave one axis at most to be worked out (-1), and give sizes whose product divides the size
    """,
)
def reshape_with_minus_one_twice():
    jit(lambda x: x.reshape(-1, -1))(X)  # <- here


@bad(
    ValueError,
    """
    AxisError: np.sum: axis 1 is out of bounds for an array with 1 axis
      in: <lambda> (here), under grad of <lambda>
      mend: give an axis from -1 to 0
    """,
)
def axis_out_of_range():
    grad(lambda x: np.sum(np.sum(x, axis=1)))(X)  # <- here


@bad(
    ValueError,
    """
    AxisError: np.transpose: axis 2 is out of bounds for an array with 2 axes
      in: <lambda> (here), under jit of <lambda>
      mend: give an axis from -2 to 1
    """,
)
def transpose_axes():
    jit(lambda x: np.transpose(x, (0, 1, 2)))(M)  # <- here


@bad(
    ValueError,
    """
    ShapeError: squeeze: axis 0 of an array of shape (2, 3) does not have size 1
      in: <lambda> (here), under jit of <lambda>
      mend: name axes of size 1 only
    """,
)
def squeeze_of_a_long_axis():
    jit(lambda x: np.squeeze(x, axis=0))(M)  # <- here


@bad(
    ValueError,
    """
    ShapeError: split: axis 0 of size 3 does not divide into 2 equal parts
      in: <lambda> (here), under grad of <lambda>
      mend: use array_split, or give the positions to cut at
    """,
)
def split_sizes():
    grad(lambda x: np.sum(np.split(x, 2)[0]))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: max: zero-size array to reduction operation maximum which has no identity
      in: <lambda> (here), under grad of <lambda>
      mend: give initial=, or leave empty arrays out
    """,
)
def max_of_nothing():
    grad(lambda x: np.max(x))(np.zeros(0))  # <- here


@bad(
    ValueError,
    """
    ShapeError: where: operands could not be broadcast together with shapes (2,3) (2,) ()
      in: <lambda> (here), under grad of <lambda>
      mend: transpose one operand, or add an axis of size 1
    """,
)
def where_shapes():
    grad(lambda x: np.sum(np.where(M > 0, x, 0.0)))(np.ones(2))  # <- here


@bad(
    ValueError,
    """
    ShapeError: array: the entries of a list have the shapes (2,) and (3,)
      in: <lambda> (here), under jit of <lambda>
      mend: bring the entries to one shape, or use concatenate
    """,
)
def array_of_uneven_rows():
    jit(lambda x: anp.array([x, x[:2]]))(X)  # <- here


@bad(
    IndexError,
    """
    OutOfBoundsError: index 3 is out of bounds for axis 0 of size 3, of an array of shape (3,)
      in: <lambda> (here), under grad of <lambda>
      mend: use an index from -3 to 2, or anp.at(x)[i].get(mode='fill'), to write .set(v, mode='drop')
    """,
)
def index_out_of_range():
    grad(lambda x: x[3])(X)  # <- here


@bad(
    IndexError,
    """
    OutOfBoundsError: index 7 is out of bounds for axis 0 of size 3, of an array of shape (3,)
      in: traced_index_out_of_range (here)
      mend: use an index from -3 to 2, or anp.at(x)[i].get(mode='fill'), to write .set(v, mode='drop')
    """,
)
def traced_index_out_of_range():
    jit(lambda x, i: x[i])(X, 7)  # <- here


@bad(
    IndexError,
    """
    OutOfBoundsError: index 9223372036854775808 is out of bounds for axis 0 of size 3, of an array of shape (3,)
      in: traced_index_that_is_too_large_for_an_int (here)
      mend: use an index from -3 to 2, or anp.at(x)[i].get(mode='fill'), to write .set(v, mode='drop')
    """,
)
def traced_index_that_is_too_large_for_an_int():
    jit(lambda x, i: x[i])(X, np.uint64(2**63))  # <- here


@bad(
    IndexError,
    """
    OutOfBoundsError: 2 indices for an array of shape (3,), which has 1 axis
      in: <lambda> (here), under grad of <lambda>
      mend: give at most one index for each axis
    """,
)
def too_many_indices():
    grad(lambda x: x[0, 0])(X)  # <- here


@bad(
    IndexError,
    """
    OutOfBoundsError: a boolean mask of shape (2,) indexes axes of shape (3,)
      in: <lambda> (here), under grad of <lambda>
      mend: give the mask the shape of the axes that it selects from
    """,
)
def mask_of_another_size():
    grad(lambda x: np.sum(x[np.array([True, False])]))(X)  # <- here


@bad(
    ValueError,
    """
    MatrixError: inv: shape (2, 3) is not that of square matrices
      in: <lambda> (here), under grad of <lambda>
      mend: give an array of shape (..., n, n)
    """,
)
def inverse_of_a_rectangle():
    grad(lambda a: np.sum(np.linalg.inv(a)))(M)  # <- here


@bad(
    ValueError,
    """
    MatrixError: solve: shape (2, 3) is not that of square matrices
      in: <lambda> (here), under grad of <lambda>
      mend: give an array of shape (..., n, n)
    """,
)
def solve_of_a_rectangle():
    grad(lambda a: np.sum(np.linalg.solve(a, np.ones(2))))(M)  # <- here


@bad(
    ValueError,
    """
    ShapeError: solve: shapes (3, 3) and (2, 1): the right-hand side does not have 3 rows
      in: <lambda> (here), under jit of <lambda>
      mend: give the right-hand side as (3,) or (..., 3, k)
    """,
)
def solve_of_another_size():
    jit(lambda b: np.linalg.solve(np.eye(3), b))(np.ones(2))  # <- here


@bad(
    ValueError,
    """
    MatrixError: cholesky: shape (2, 3) is not that of square matrices
      in: <lambda> (here), under jit of <lambda>
      mend: give an array of shape (..., n, n)
    """,
)
def cholesky_of_a_rectangle():
    jit(lambda a: np.linalg.cholesky(a))(M)  # <- here


@bad(
    ValueError,
    """
    MatrixError: det: shape (3,) is not that of a matrix
      in: <lambda> (here), under grad of <lambda>
      mend: give an array of shape (..., n, m)
    """,
)
def det_of_a_vector():
    grad(lambda a: np.linalg.det(a))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: solve_triangular: shape (2, 3) is not that of square matrices
      in: <lambda> (here), under grad of <lambda>
      mend: give an array of shape (..., n, n)
    """,
)
def triangular_solve_of_a_rectangle():
    grad(lambda a: np.sum(autodidax.scipy.linalg.solve_triangular(a, np.ones(2))))(M)  # <- here


@bad(
    np.linalg.LinAlgError,
    """
    LinearAlgebraError: cholesky: Matrix is not positive definite
      in: <lambda> (here), under grad of <lambda>
      mend: give a symmetric positive definite matrix, e.g. a @ a.T + 1e-6 * np.eye(n)
    """,
)
def cholesky_of_an_indefinite_matrix():
    grad(lambda a: np.sum(np.linalg.cholesky(a)))(-np.eye(2))  # <- here


@bad(
    np.linalg.LinAlgError,
    """
    LinearAlgebraError: inv: Singular matrix
      in: <lambda> (here), under grad of <lambda>
      mend: use np.linalg.lstsq or pinv, or add a small multiple of the identity: a + 1e-6 * np.eye(n)
    """,
)
def inverse_of_a_singular_matrix():
    grad(lambda a: np.sum(np.linalg.inv(a)))(np.zeros((2, 2)))  # <- here
