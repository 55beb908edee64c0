"""Shapes that depend on values, and shapes that do not fit."""

import numpy as np

import autodidax.numpy as anp
import autodidax.scipy.linalg
from autodidax import grad, jit, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
M = np.arange(6.0).reshape(2, 3)


@bad(IndexError)
def boolean_mask_under_jit():
    def positive_sum(x):
        return np.sum(x[x > 0])  # <- here

    jit(positive_sum)(X)


@bad(IndexError)
def boolean_mask_under_vmap():
    vmap(lambda row: np.sum(row[row > 0]))(M)  # <- here


@bad(IndexError)
def boolean_mask_of_a_plain_array():
    def chosen(threshold):
        return np.sum(X[X > threshold])  # <- here

    jit(chosen)(0.0)


@bad(TypeError)
def nonzero_under_jit():
    def places(x):
        return np.nonzero(x)  # <- here

    jit(places)(X)


@bad(TypeError)
def where_with_one_argument_under_jit():
    def places(x):
        return np.where(x > 0)  # <- here

    jit(places)(X)


@bad(TypeError)
def flatnonzero_under_vmap():
    vmap(lambda row: np.flatnonzero(row))(M)  # <- here


@bad(TypeError)
def argwhere_under_jit():
    jit(lambda x: np.argwhere(x > 0))(X)  # <- here


@bad(TypeError)
def unique_under_jit():
    def distinct(x):
        return np.unique(x)  # <- here

    jit(distinct)(X)


@bad(TypeError)
def compress_under_jit():
    def chosen(x):
        return np.compress(x > 0, x)  # <- here

    jit(chosen)(X)


@bad(TypeError)
def extract_under_jit():
    jit(lambda x: np.extract(x > 0, x))(X)  # <- here


@bad(TypeError)
def delete_under_jit():
    jit(lambda x, k: np.delete(x, k))(X, 1)  # <- here


@bad(TypeError)
def arange_under_jit():
    def numbers(n):
        return np.arange(n)  # <- here

    jit(numbers)(3)


@bad(TypeError)
def arange_of_our_own_under_jit():
    def numbers(n):
        return anp.arange(n)  # <- here

    jit(numbers)(3)


@bad(TypeError)
def zeros_under_jit():
    def padded(n):
        return np.zeros(n)  # <- here

    jit(padded)(3)


@bad(TypeError)
def zeros_of_our_own_under_jit():
    def padded(n):
        return anp.zeros((n, 2))  # <- here

    jit(padded)(3)


@bad(TypeError)
def eye_under_jit():
    def identity(n):
        return np.eye(n)  # <- here

    jit(identity)(3)


@bad(TypeError)
def linspace_under_jit():
    def grid(n):
        return np.linspace(0.0, 1.0, n)  # <- here

    jit(grid)(5)


@bad(TypeError)
def full_under_jit():
    def filled(n):
        return anp.full((n,), 2.0)  # <- here

    jit(filled)(5)


@bad(TypeError)
def reshape_under_jit():
    def rows(x, n):
        return x.reshape(n, -1)  # <- here

    jit(rows)(M, 3)


@bad(TypeError)
def reshape_of_a_plain_array_under_jit():
    def rows(n):
        return M.reshape(n, -1)  # <- here

    jit(rows)(3)


@bad(TypeError)
def repeat_under_jit():
    def spread(x, counts):
        return np.repeat(x, counts)  # <- here

    jit(spread)(X, np.array([1, 2, 0]))


@bad(TypeError)
def tile_under_jit():
    jit(lambda x, n: np.tile(x, n))(X, 2)  # <- here


@bad(TypeError)
def broadcast_to_a_traced_size():
    jit(lambda x, n: np.broadcast_to(x, (n, 3)))(X, 2)  # <- here


@bad(TypeError)
def axis_that_is_traced():
    jit(lambda x, k: np.sum(x, axis=k))(M, 0)  # <- here


@bad(TypeError)
def split_at_traced_places():
    jit(lambda x, k: np.split(x, [k]))(X, 1)  # <- here


@bad(TypeError)
def bincount_under_jit():
    jit(lambda k: np.bincount(k))(np.array([0, 1, 1]))  # <- here


@bad(ValueError)
def product_of_matrices():
    def loss(w):
        return np.sum(w @ M)  # <- here

    grad(loss)(M)


@bad(ValueError)
def product_of_matrix_and_vector():
    grad(lambda w: np.sum(M @ w))(np.ones(2))  # <- here


@bad(ValueError)
def product_with_a_number():
    grad(lambda s: np.sum(M @ s))(2.0)  # <- here


@bad(ValueError)
def dot_of_vectors():
    grad(lambda x: np.dot(x, np.ones(4)))(X)  # <- here


@bad(ValueError)
def einsum_sizes():
    grad(lambda x: np.sum(np.einsum("ij,jk->ik", x, M)))(M)  # <- here


@bad(ValueError)
def einsum_operands():
    grad(lambda x: np.einsum("ij,jk->ik", x))(M)  # <- here


@bad(ValueError)
def einsum_rank():
    grad(lambda x: np.einsum("ijk->", x))(M)  # <- here


@bad(ValueError)
def concatenate_sizes():
    grad(lambda x: np.sum(np.concatenate([x, np.ones((2, 4))])))(M)  # <- here


@bad(ValueError)
def stack_shapes():
    grad(lambda x: np.sum(np.stack([x, np.ones(4)])))(X)  # <- here


@bad(ValueError)
def concatenate_of_numbers():
    grad(lambda x: np.sum(np.concatenate([x, 1.0])))(X)  # <- here


@bad(ValueError)
def broadcast():
    def residual(x, y):
        return np.sum((x - y) ** 2)  # <- here

    grad(residual)(M, np.ones((3, 2)))


@bad(ValueError)
def broadcast_under_vmap():
    def residual(x):
        return x - np.ones(2)  # <- here

    vmap(residual)(M)


@bad(ValueError)
def broadcast_under_jit():
    jit(lambda x, y: x * y)(M, np.ones(2))  # <- here


@bad(ValueError)
def broadcast_to_shape():
    grad(lambda x: np.sum(np.broadcast_to(x, (2, 2))))(X)  # <- here


@bad(ValueError)
def reshape_size():
    grad(lambda x: np.sum(x.reshape(4)))(X)  # <- here


@bad(ValueError)
def reshape_with_minus_one():
    jit(lambda x: x.reshape(-1, 2))(X)  # <- here


@bad(ValueError)
def reshape_with_minus_one_twice():
    jit(lambda x: x.reshape(-1, -1))(X)  # <- here


@bad(ValueError)
def axis_out_of_range():
    grad(lambda x: np.sum(np.sum(x, axis=1)))(X)  # <- here


@bad(ValueError)
def transpose_axes():
    jit(lambda x: np.transpose(x, (0, 1, 2)))(M)  # <- here


@bad(ValueError)
def squeeze_of_a_long_axis():
    jit(lambda x: np.squeeze(x, axis=0))(M)  # <- here


@bad(ValueError)
def split_sizes():
    grad(lambda x: np.sum(np.split(x, 2)[0]))(X)  # <- here


@bad(ValueError)
def max_of_nothing():
    grad(lambda x: np.max(x))(np.zeros(0))  # <- here


@bad(ValueError)
def where_shapes():
    grad(lambda x: np.sum(np.where(M > 0, x, 0.0)))(np.ones(2))  # <- here


@bad(ValueError)
def array_of_uneven_rows():
    jit(lambda x: anp.array([x, x[:2]]))(X)  # <- here


@bad(IndexError)
def index_out_of_range():
    grad(lambda x: x[3])(X)  # <- here


@bad(IndexError)
def traced_index_out_of_range():
    jit(lambda x, i: x[i])(X, 7)  # <- here


@bad(IndexError)
def traced_index_that_is_too_large_for_an_int():
    jit(lambda x, i: x[i])(X, np.uint64(2**63))  # <- here


@bad(IndexError)
def too_many_indices():
    grad(lambda x: x[0, 0])(X)  # <- here


@bad(IndexError)
def mask_of_another_size():
    grad(lambda x: np.sum(x[np.array([True, False])]))(X)  # <- here


@bad(ValueError)
def inverse_of_a_rectangle():
    grad(lambda a: np.sum(np.linalg.inv(a)))(M)  # <- here


@bad(ValueError)
def solve_of_a_rectangle():
    grad(lambda a: np.sum(np.linalg.solve(a, np.ones(2))))(M)  # <- here


@bad(ValueError)
def solve_of_another_size():
    jit(lambda b: np.linalg.solve(np.eye(3), b))(np.ones(2))  # <- here


@bad(ValueError)
def cholesky_of_a_rectangle():
    jit(lambda a: np.linalg.cholesky(a))(M)  # <- here


@bad(ValueError)
def det_of_a_vector():
    grad(lambda a: np.linalg.det(a))(X)  # <- here


@bad(ValueError)
def triangular_solve_of_a_rectangle():
    grad(lambda a: np.sum(autodidax.scipy.linalg.solve_triangular(a, np.ones(2))))(M)  # <- here


@bad(np.linalg.LinAlgError)
def cholesky_of_an_indefinite_matrix():
    grad(lambda a: np.sum(np.linalg.cholesky(a)))(-np.eye(2))  # <- here


@bad(np.linalg.LinAlgError)
def inverse_of_a_singular_matrix():
    grad(lambda a: np.sum(np.linalg.inv(a)))(np.zeros((2, 2)))  # <- here
