"""Mutants that are no wrong rules, each with the reason why."""

from __future__ import annotations

AT_INFINITY = "it differs only where the result is infinite, and there is no derivative to compare with"
EQUAL_VALUES = "it tells nan from an infinite quotient at equal singular values, where there is no derivative"

#: (primitive, rule, operator, target) -> why the changed rule is right as well
EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    ("min", "products", "neighbour's rule", "fmax"): (
        "the two differ only where an operand is nan, and there is no derivative to compare with"
    ),
    ("eigvalsh", "jvp", "parameter changed", "lower"): (
        "at Hermitian points, where alone the derivative is defined, both triangles hold the same numbers"
    ),
    ("spectral_quotient", "jvp", "parameter changed", "transposed"): (
        "it differs only in columns of zeros over gaps of zero, between 0 and nan: there is no derivative"
    ),
    ("eigvalsh", "jvp", "call forgotten", "adjoint(x) as x, in hermitian_part"): (
        "the real part of the diagonal of v^H t v is the same for t and for its Hermitian part"
    ),
    (
        "svd",
        "jvp",
        "term dropped",
        "rows_of(values) - columns_of(values) as rows_of(values), in equal_values",
    ): EQUAL_VALUES,
    (
        "svd",
        "jvp",
        "term dropped",
        "rows_of(values) - columns_of(values) as columns_of(values), in equal_values",
    ): EQUAL_VALUES,
    (
        "svd",
        "jvp",
        "sign flipped",
        "rows_of(values) - columns_of(values) as rows_of(values) + columns_of(values), in equal_values",
    ): EQUAL_VALUES,
    (
        "logsumexp",
        "jvp",
        "factor dropped",
        "astype(chosen, dtype_of(total)) / where(equal(count, 0), ... as astype(chosen, dtype_of(total)), in _softmax",
    ): AT_INFINITY,
    (
        "logsumexp",
        "jvp",
        "factor dropped",
        "terms / expand_dims(reduce_sum(terms, axes=axes), axes) as terms, in _softmax",
    ): (
        "the sum of the weights is one but for the rounding of the total, which moves them no more than one unit in "
        "the last place of the operand does"
    ),
    ("logsumexp", "jvp", "sign flipped", "-np.inf as np.inf, in _softmax"): AT_INFINITY,
    ("logsumexp", "jvp", "sign flipped", "-np.inf as np.inf, in _softmax (2)"): AT_INFINITY,
}
