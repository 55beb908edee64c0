"""Wrong rules of linear algebra: transposes, symmetrizations, triangles, gaps of eigenvalues, missing terms."""

import numpy as np
import scipy.linalg

from tests.testing.wrong.case import Case, normal, positive_definite, reverse, well_conditioned

inv, solve = np.linalg.inv, np.linalg.solve
GENERAL = well_conditioned(4)
DEFINITE = positive_definite(4)


def symmetric(a):
    return (a + a.T) / 2


def singular(rng):
    """A matrix of rank 3, exactly: with a row of zeros, which elimination leaves as it is."""
    a = rng.standard_normal((4, 4))
    a[2] = 0
    return (a,)


def cofactors(a):
    """The derivative of det, also where a is singular."""
    minors = np.empty_like(a)
    for i in range(4):
        for j in range(4):
            minors[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
    return minors


def solve_vjp(a, b, ct):
    g = solve(a.T, ct)
    return -g @ solve(a, b).T, g


def least_squares(a, b):
    return np.linalg.lstsq(a, b, rcond=None)[0]


def least_squares_vjp(a, b, ct, *, residual=True):
    x, g = least_squares(a, b), solve(a.T @ a, ct)
    return residual * np.outer(b - a @ x, g) - np.outer(a @ g, x), a @ g


def cholesky(a):
    return np.linalg.cholesky(symmetric(a))


def cholesky_vjp(a, ct, *, part=np.tril, halved=True):
    low = cholesky(a)
    p = part(low.T @ ct)
    if halved:
        p = p - np.diag(np.diag(p)) / 2
    return symmetric(inv(low).T @ p @ inv(low))


def lower_cholesky_symmetric(a, ct):
    return cholesky_vjp(np.tril(a) + np.tril(a, -1).T, ct)


def lower_cholesky_vjp(a, ct):
    """Of NumPy's function itself, which reads the lower triangle alone."""
    g = lower_cholesky_symmetric(a, ct)
    return np.tril(2 * g) - np.diag(np.diag(g))


def cholesky_logdet(a):
    return 2 * np.sum(np.log(np.diag(cholesky(a))))


def eigenvalues(a):
    return np.linalg.eigvalsh(symmetric(a))


def eigenvalues_vjp(a, ct, *, transposed=False):
    v = np.linalg.eigh(symmetric(a))[1]
    v = v.T if transposed else v
    return v @ np.diag(ct) @ v.T


def symmetric_exp(a):
    w, v = np.linalg.eigh(symmetric(a))
    return v @ np.diag(np.exp(w)) @ v.T


def divided_differences(w):
    """(exp(w_i) - exp(w_j)) / (w_i - w_j), with the derivative where the two are equal."""
    gap = w[:, None] - w[None, :]
    half = gap / 2
    with np.errstate(all="ignore"):
        ratio = np.where(np.abs(half) < 1e-3, 1 + half**2 / 6 + half**4 / 120, np.sinh(half) / half)
    return np.exp((w[:, None] + w[None, :]) / 2) * ratio


def no_diagonal(w):
    weights = divided_differences(w)
    np.fill_diagonal(weights, 0.0)
    return weights


def reversed_gaps(w):
    weights = -divided_differences(w)
    np.fill_diagonal(weights, np.exp(w))
    return weights


def plain_gaps(w):
    with np.errstate(all="ignore"):
        weights = (np.exp(w)[:, None] - np.exp(w)) / (w[:, None] - w)
    np.fill_diagonal(weights, np.exp(w))
    return weights


def symmetric_exp_vjp(a, ct, weights=divided_differences):
    w, v = np.linalg.eigh(symmetric(a))
    return symmetric(v @ ((v.T @ ct @ v) * weights(w)) @ v.T)


def singular_values_vjp(a, ct):
    u, _, vt = np.linalg.svd(a)
    return u @ np.diag(ct) @ vt


def qr(a):
    return tuple(np.linalg.qr(a))


def copy_lower(m):
    return np.tril(m) + np.tril(m, -1).T


def qr_vjp(a, ct, copied=copy_lower):
    (q, r), (gq, gr) = np.linalg.qr(a), ct
    return (gq + q @ copied(r @ gr.T - gq.T @ q)) @ inv(r).T


def pinv_vjp(a, ct, *, projections=True):
    p = np.linalg.pinv(a)
    g = -p.T @ ct @ p.T
    if projections:
        left, right = np.eye(a.shape[0]) - a @ p, np.eye(a.shape[1]) - p @ a
        g = g + left @ ct.T @ p @ p.T + p.T @ p @ ct.T @ right
    return g


def matrix_exp(a):
    """The exponential's series, up to the 30th power."""
    term = total = np.eye(len(a))
    for k in range(1, 31):
        term = term @ a / k
        total = total + term
    return total


def matrix_exp_along(a, t):
    """The derivative along t, from the corner of the exponential of [[a, t], [0, a]]."""
    return matrix_exp(np.block([[a, t], [np.zeros_like(a), a]]))[: len(a), len(a) :]


def lower_solve(a, b):
    return scipy.linalg.solve_triangular(a, b, lower=True)


def lower_solve_vjp(a, b, ct, *, masked=True, transposed=True):
    g = scipy.linalg.solve_triangular(a, ct, lower=True, trans=int(transposed))
    ga = -np.outer(g, lower_solve(a, b))
    return (np.tril(ga) if masked else ga), g


def sylvester(a, b, q):
    if np.min(np.abs(np.add.outer(np.linalg.eigvals(a), np.linalg.eigvals(b)))) < 1e-10:
        raise np.linalg.LinAlgError("singular")  # SciPy goes on with numbers as large as they come
    return scipy.linalg.solve_sylvester(a, b, q)


def sylvester_vjp(a, b, c, ct, *, transposed=True):
    x = scipy.linalg.solve_sylvester(a, b, c)
    g = scipy.linalg.solve_sylvester(a.T, b.T, ct) if transposed else scipy.linalg.solve_sylvester(a, b, ct)
    return -g @ x.T, -x.T @ g, g


def sylvester_args(rng):
    return rng.standard_normal((3, 3)) + 4 * np.eye(3), rng.standard_normal((3, 3)), rng.standard_normal((3, 3))


def log_det(a):
    return np.linalg.slogdet(a)[1]


def log_det_vjp(a, ct):
    return ct * np.linalg.inv(a).T


def log_det_signed(a, ct):
    """Right where the determinant is positive."""
    return np.linalg.slogdet(a)[0] * log_det_vjp(a, ct)


def volume(a):
    """The area that a matrix of two rows and columns spans."""
    return np.abs(np.linalg.det(a))


def volume_vjp(a, ct, sign=1.0):
    return ct * sign * np.array([[a[1, 1], -a[1, 0]], [-a[0, 1], a[0, 0]]])


def dominated(n):
    """A matrix with a positive determinant, and its negative too where n is even."""
    return lambda rng: (3 * np.eye(n) + 0.3 * rng.standard_normal((n, n)),)


CASES = [
    reverse(
        "inverse, not transposed", inv, lambda a, ct: -inv(a).T @ ct @ inv(a).T, lambda a, ct: -inv(a) @ ct @ inv(a),
        GENERAL),
    reverse(
        "inverse, sign", inv, lambda a, ct: -inv(a).T @ ct @ inv(a).T, lambda a, ct: inv(a).T @ ct @ inv(a).T, GENERAL),
    reverse(
        "determinant, inverse not transposed", np.linalg.det, lambda a, ct: ct * np.linalg.det(a) * inv(a).T,
        lambda a, ct: ct * np.linalg.det(a) * inv(a), GENERAL),
    reverse(
        "determinant, through the inverse of a singular matrix", np.linalg.det, lambda a, ct: ct * cofactors(a),
        lambda a, ct: ct * np.linalg.det(a) * inv(a).T, singular),
    reverse(
        "log of the determinant, right for symmetric matrices alone", lambda a: np.linalg.slogdet(a)[1],
        lambda a, ct: ct * inv(a).T, lambda a, ct: ct * inv(a), GENERAL),
    reverse(
        "log of the determinant by Cholesky, a half of it", cholesky_logdet, lambda a, ct: ct * inv(symmetric(a)),
        lambda a, ct: ct * inv(symmetric(a)) / 2, DEFINITE),
    reverse(
        "solve, right side transposed", solve, solve_vjp,
        lambda a, b, ct: (-solve(a, b) @ solve(a.T, ct).T, solve(a.T, ct)), well_conditioned(4, (4, 4))),
    Case(
        "solve, the matrix held fixed", solve, well_conditioned(4, 4),
        lambda a, b, ta, tb: solve(a, tb - ta @ solve(a, b)), wrong_jvp=lambda a, b, ta, tb: solve(a, tb)),
    reverse(
        "least squares, residual missing", least_squares, least_squares_vjp,
        lambda a, b, ct: least_squares_vjp(a, b, ct, residual=False), normal((6, 3), 6)),
    reverse(
        "cholesky, the upper part", cholesky, cholesky_vjp, lambda a, ct: cholesky_vjp(a, ct, part=np.triu), DEFINITE),
    reverse(
        "cholesky of the lower triangle, symmetric gradient", np.linalg.cholesky, lower_cholesky_vjp,
        lower_cholesky_symmetric, DEFINITE),
    reverse(
        "cholesky, one triangle of the gradient", cholesky, cholesky_vjp,
        lambda a, ct: np.tril(2 * cholesky_vjp(a, ct)), DEFINITE),
    reverse(
        "eigenvalues, vectors transposed", eigenvalues, eigenvalues_vjp,
        lambda a, ct: eigenvalues_vjp(a, ct, transposed=True), normal((4, 4))),
    reverse(
        "eigenvalues, in descending order", eigenvalues, eigenvalues_vjp, lambda a, ct: eigenvalues_vjp(a, ct[::-1]),
        normal((4, 4))),
    reverse(
        "exponential of a symmetric matrix, diagonal missing", symmetric_exp, symmetric_exp_vjp,
        lambda a, ct: symmetric_exp_vjp(a, ct, no_diagonal), normal((4, 4))),
    reverse(
        "exponential of a symmetric matrix, gaps reversed", symmetric_exp, symmetric_exp_vjp,
        lambda a, ct: symmetric_exp_vjp(a, ct, reversed_gaps), normal((4, 4))),
    reverse(
        "exponential of a symmetric matrix, nan for equal eigenvalues", symmetric_exp, symmetric_exp_vjp,
        lambda a, ct: symmetric_exp_vjp(a, ct, plain_gaps), normal((4, 4))),
    reverse(
        "singular values, transposed", lambda a: np.linalg.svd(a, compute_uv=False), singular_values_vjp,
        lambda a, ct: singular_values_vjp(a, ct).T, normal((4, 4))),
    reverse("qr, symmetrized", qr, qr_vjp, lambda a, ct: qr_vjp(a, ct, symmetric), GENERAL),
    reverse("qr, one triangle", qr, qr_vjp, lambda a, ct: qr_vjp(a, ct, np.tril), GENERAL),
    reverse(
        "matrix exponential, of matrices that commute", matrix_exp, lambda a, ct: matrix_exp_along(a.T, ct),
        lambda a, ct: matrix_exp(a).T @ ct, normal((3, 3))),
    reverse(
        "matrix exponential, not transposed", matrix_exp, lambda a, ct: matrix_exp_along(a.T, ct), matrix_exp_along,
        normal((3, 3))),
    reverse(
        "third power, of matrices that commute", lambda a: a @ a @ a,
        lambda a, ct: ct @ a.T @ a.T + a.T @ ct @ a.T + a.T @ a.T @ ct, lambda a, ct: 3 * a.T @ a.T @ ct,
        normal((3, 3))),
    reverse(
        "triangular solve, the other triangle too", lower_solve, lower_solve_vjp,
        lambda a, b, ct: lower_solve_vjp(a, b, ct, masked=False), well_conditioned(4, 4)),
    reverse(
        "triangular solve, not transposed", lower_solve, lower_solve_vjp,
        lambda a, b, ct: lower_solve_vjp(a, b, ct, transposed=False), well_conditioned(4, 4)),
    reverse(
        "pseudoinverse, as if it were the inverse", np.linalg.pinv, pinv_vjp,
        lambda a, ct: pinv_vjp(a, ct, projections=False), normal((5, 3))),
    reverse(
        "Gram matrix, right for symmetric cotangents alone", lambda a: a @ a.T, lambda a, ct: (ct + ct.T) @ a,
        lambda a, ct: 2 * ct @ a, normal((4, 4))),
    reverse(
        "trace of a product, not transposed", lambda a, b: np.trace(a @ b), lambda a, b, ct: (ct * b.T, ct * a.T),
        lambda a, b, ct: (ct * b, ct * a.T), normal((4, 4), (4, 4))),
    reverse(
        "product of three matrices, factors exchanged", lambda a, b, c: a @ b @ c,
        lambda a, b, c, ct: (ct @ c.T @ b.T, a.T @ ct @ c.T, b.T @ a.T @ ct),
        lambda a, b, c, ct: (ct @ b.T @ c.T, a.T @ ct @ c.T, b.T @ a.T @ ct), normal((3, 3), (3, 3), (3, 3))),
    reverse(
        "Sylvester equation, not transposed", sylvester, sylvester_vjp,
        lambda a, b, c, ct: sylvester_vjp(a, b, c, ct, transposed=False), sylvester_args),
    reverse(
        "logarithm of the size of a determinant, with its sign", log_det, log_det_vjp, log_det_signed, dominated(4)),
    reverse(
        "volume, without a sign", volume, lambda a, ct: volume_vjp(a, ct, np.sign(np.linalg.det(a))), volume_vjp,
        dominated(2)),
    reverse(
        "Frobenius norm squared of a stack, first matrix alone", lambda a: np.sum(a * a, axis=(1, 2)),
        lambda a, ct: 2 * a * ct[:, None, None], lambda a, ct: 2 * a * ct[0], normal((3, 2, 2))),
]  # fmt: skip
