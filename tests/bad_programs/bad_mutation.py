"""Writes into arrays in place: values of a transform are immutable."""

import numpy as np

import autodidax.numpy as anp
from autodidax import grad, jit, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by grad of clamped: item assignment on a traced value
      in: clamped (here), under grad of clamped
      mend: write x = anp.at(x)[0].set(0.0), with autodidax.numpy as anp
    """,
)
def item_assignment():
    def clamped(x):
        x[0] = 0.0  # <- here
        return np.sum(x)

    grad(clamped)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by jit of clamped: item assignment on a traced value
      in: clamped (here), under jit of clamped
      mend: write x = np.where(x < 0, 0.0, x)
    """,
)
def item_assignment_under_jit():
    def clamped(x):
        x[x < 0] = 0.0  # <- here
        return x

    jit(clamped)(X)


@bad(
    IndexError,
    """
    NonConcreteBooleanIndexError: a boolean mask whose values are not known while tracing: the size of the
            result would depend on them
      in: shifted (here), under jit of shifted
      mend: write x = np.where(x > 0, x - 1.0, x)
    """,
)
def augmented_item_assignment_at_a_mask():
    def shifted(x):
        x[x > 0] -= 1.0  # <- here
        return x

    jit(shifted)(X)


@bad(
    TypeError,
    """
    MutationError: a traced value (bool[3]), which depends on argument 'x' of marked, cannot take part in a
            write into a plain array under jit of marked: it has no value yet
      in: marked (here), under jit of marked
      mend: write y = np.where(x > 0, 1.0, y)
    """,
)
def item_assignment_to_a_plain_array_at_a_mask():
    def marked(x):
        y = np.zeros(3)
        y[x > 0] = 1.0  # <- here
        return y

    jit(marked)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by grad of shifted: item assignment on a traced value
      in: shifted (here), under grad of shifted
      mend: write x = anp.at(x)[1:].add(1.0), with autodidax.numpy as anp
    """,
)
def augmented_item_assignment():
    def shifted(x):
        x[1:] += 1.0  # <- here
        return np.sum(x**2)

    grad(shifted)(X)


@bad(
    TypeError,
    """
    MutationError: a traced value cannot be written into a plain array: its derivative would be lost
      in: squares (here), under grad of squares
      mend: write y = anp.at(y)[i].set(x[i] ** 2), with autodidax.numpy as anp; or collect values with
            anp.array([x, y])
    """,
)
def item_assignment_to_a_plain_array():
    def squares(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = x[i] ** 2  # <- here
        return np.sum(y)

    grad(squares)(X)


@bad(
    TypeError,
    """
    MutationError: a traced value (f64[3]), which depends on argument 'x' of squares, cannot take part in a
            write into a plain array under jit of squares: it has no value yet
      in: squares (here), under jit of squares
      mend: write y = anp.at(y)[:].set(x ** 2), with autodidax.numpy as anp
    """,
)
def item_assignment_to_a_plain_array_under_jit():
    def squares(x):
        y = np.zeros(3)
        y[:] = x**2  # <- here
        return y

    jit(squares)(X)


@bad(
    TypeError,
    """
    MutationError: a traced value (f64[3]) cannot take part in a write into a plain array under vmap of padded
            over axis 0 of size 2: it has no value yet
      in: padded (here), under vmap of padded over axis 0 of size 2
      mend: write y = anp.at(y)[:3].set(x), with autodidax.numpy as anp
    """,
)
def item_assignment_to_a_plain_array_under_vmap():
    def padded(x):
        y = np.zeros(5)
        y[:3] = x  # <- here
        return y

    vmap(padded)(np.stack([X, X]))


@bad(
    TypeError,
    """
    MutationError: a traced value (i64[]), which depends on argument 'k' of one_hot, cannot take part in a write
            into a plain array under jit of one_hot: it has no value yet
      in: one_hot (here), under jit of one_hot
      mend: write y = anp.at(y)[k].set(1.0), with autodidax.numpy as anp
    """,
)
def item_assignment_at_a_traced_place():
    def one_hot(k):
        y = np.zeros(3)
        y[k] = 1.0  # <- here
        return y

    jit(one_hot)(1)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by fori_loop of body: item assignment on a traced value
      in: body (here), under fori_loop of body, under jit of <lambda>
      mend: write buffer = anp.at(buffer)[i].set(2.0 * i), with autodidax.numpy as anp
    """,
)
def item_assignment_in_a_loop_body():
    def body(i, buffer):
        buffer[i] = 2.0 * i  # <- here
        return buffer

    jit(lambda n: lax.fori_loop(0, n, body, np.zeros(3)))(3)


@bad(
    TypeError,
    """
    MutationError: add: a traced result cannot be written into a plain array (out=, or an operator such as acc
            += x)
      in: accumulate (here), under jit of accumulate
      mend: return total + x, and bind it outside
    """,
)
def in_place_addition_to_a_captured_array():
    total = np.zeros(3)

    def accumulate(x):
        total[...] += x  # <- here
        return x

    jit(accumulate)(X)


@bad(
    TypeError,
    """
    MutationError: add: a traced result cannot be written into a plain array (out=, or an operator such as acc
            += x)
      in: accumulate (here), under grad of accumulate
      mend: leave out= away and bind the result: total = np.add(total, x)
    """,
)
def in_place_operator_on_a_captured_array():
    def accumulate(x):
        total = np.zeros(3)
        np.add(total, x, out=total)  # <- here
        return np.sum(total)

    grad(accumulate)(X)


@bad(
    TypeError,
    """
    MutationError: multiply: a traced result cannot be written into a plain array (out=, or an operator such as
            acc += x)
      in: loss (here), under grad of loss
      mend: leave out= away and bind the result: y = np.multiply(x, 2.0)
    """,
)
def out_argument():
    def loss(x):
        y = np.empty(3)
        np.multiply(x, 2.0, out=y)  # <- here
        return np.sum(y)

    grad(loss)(X)


@bad(
    TypeError,
    """
    MutationError: sum: a traced result cannot be written into the array given as out
      in: loss (here), under jit of loss
      mend: leave out= away and bind the result: y = np.sum(x)
    """,
)
def out_argument_of_a_reduction():
    def loss(x):
        y = np.empty(())
        np.sum(x, out=y)  # <- here
        return y

    jit(loss)(X)


@bad(
    TypeError,
    """
    MutationError: exp: a traced result cannot be written into a plain array (out=, or an operator such as acc
            += x)
      in: loss (here), under grad of loss
      mend: leave out= away, and use the result: np.exp(X)
    """,
)
def out_argument_that_is_traced():
    def loss(x):
        return np.sum(np.exp(X, out=x))  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    MutationError: copyto: a traced value cannot be written into, nor be written into a plain array
      in: loss (here), under grad of loss
      mend: write a = anp.broadcast_to(x, a.shape), with where=m a = np.where(m, x, a); np.full as anp.full
    """,
)
def copyto():
    def loss(x):
        y = np.zeros(3)
        np.copyto(y, x)  # <- here
        return np.sum(y)

    grad(loss)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.fill_diagonal: a traced value (f64[3]) cannot become a plain NumPy array
            under grad of loss: its derivative would be lost
      in: loss (here), under grad of loss
      mend: write a = anp.fill_diagonal(a, x, inplace=False), or anp.at(a)[i, i].set(x)
    """,
)
def fill_diagonal():
    def loss(x):
        a = np.zeros((3, 3))
        np.fill_diagonal(a, x)  # <- here
        return np.sum(a)

    grad(loss)(X)


@bad(
    TypeError,
    """
    MutationError: add.at writes into its first argument, which traced values do not allow
      in: counts (here), under grad of counts
      mend: write a = anp.at(a)[index].add(x)
    """,
)
def add_at():
    def counts(x):
        y = np.zeros(3)
        np.add.at(y, np.array([0, 0, 1]), x)  # <- here
        return np.sum(y**2)

    grad(counts)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by grad of median: sort() changes an array in place
      in: median (here), under grad of median
      mend: write x = anp.sort(x), or np.sort(x)
    """,
)
def sort_in_place():
    def median(x):
        x.sort()  # <- here
        return x[1]

    grad(median)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by jit of cleared: fill() changes an array in place
      in: cleared (here), under jit of cleared
      mend: write x = anp.full_like(x, value)
    """,
)
def fill():
    def cleared(x):
        x.fill(0.0)  # <- here
        return x

    jit(cleared)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by grad of tail: entries of an array cannot be deleted in place
      in: tail (here), under grad of tail
      mend: take the entries to keep: x = x[keep]
    """,
)
def deleted_entry():
    def tail(x):
        del x[0]  # <- here
        return np.sum(x)

    grad(tail)(X)


@bad(
    TypeError,
    """
    MissingAttributeError: Traced<f64[3]> by grad of clamped has no attribute 'flat'
      in: clamped (here), under grad of clamped
      mend: write x.ravel(), and anp.at(x.ravel())[i].set(v) to replace entries
    """,
)
def flat_of_a_traced_value():
    def clamped(x):
        x.flat[0] = 0.0  # <- here
        return np.sum(x)

    grad(clamped)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by grad of column: shape cannot be assigned
      in: column (here), under grad of column
      mend: write x = x.reshape(shape)
    """,
)
def shape_assignment():
    def column(x):
        x.shape = (3, 1)  # <- here
        return np.sum(x)

    grad(column)(X)


@bad(
    ValueError,
    """
    MutationError: a write into an array that the open transform keeps for its backward pass (assignment
            destination is read-only)
      in: loss (here), under grad of loss
      mend: write y = y + 1 in place of y += 1, or keep a copy: y = y.copy() before the first use
    """,
)
def write_into_an_array_that_the_gradient_needs():
    weights = np.ones(20_000)

    def loss(x):
        y = np.sum(x * weights)
        weights[0] = 5.0  # <- here
        return y

    grad(loss)(np.ones(20_000))


@bad(
    ValueError,
    """
    ShapeError: updates of shape (3,) do not broadcast to the indexed part, which has shape (2,)
      in: <lambda> (here), under grad of <lambda>
      mend: give the updates the shape of x[index], or axes of size 1
    """,
)
def at_of_another_shape():
    grad(lambda x: np.sum(anp.at(x)[:2].set(np.ones(3))))(X)  # <- here


@bad(
    IndexError,
    """
    OutOfBoundsError: index 5 is out of bounds for axis 0 of size 3, of an array of shape (3,)
      in: <lambda> (here), under grad of <lambda>
      mend: use an index from -3 to 2, or anp.at(x)[i].get(mode='fill'), to write .set(v, mode='drop')
    """,
)
def at_out_of_range():
    grad(lambda x: np.sum(anp.at(x)[5].set(1.0)))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: at: a traced value of dtype float64 in an array of dtype int64 would lose its fraction and its
            derivative
      in: <lambda> (here), under grad of <lambda>
      mend: make the array one of floats: a.astype(float); or convert the value with astype
    """,
)
def float_into_an_array_of_integers():
    counts = np.zeros(3, int)
    grad(lambda x: np.sum(anp.at(counts)[0].set(x)))(0.5)  # <- here


@bad(
    AttributeError,
    """
    MissingAttributeError: a plain array has no attribute 'at'
      in: <lambda> (here), under jit of <lambda>
      mend: write anp.at(a)[i].set(v), with autodidax.numpy as anp, which takes plain and traced arrays
    """,
)
def at_of_a_plain_array():
    jit(lambda x: X.at[0].set(x))(1.0)  # <- here


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by jit of swapped: item assignment on a traced value
      in: swapped (here), under jit of swapped
      mend: write x = anp.at(x)[[0, 1]].set(anp.array([x[1], x[0]])), with autodidax.numpy as anp
    """,
)
def swap_of_two_entries():
    def swapped(x):
        x[0], x[1] = x[1], x[0]  # <- here
        return x

    jit(swapped)(X)


@bad(
    TypeError,
    """
    MutationError: a traced value cannot be written into a plain array: its derivative would be lost
      in: scaled (here), under jit of scaled
      mend: write y = anp.at(y)[1].multiply(x), with autodidax.numpy as anp; or collect values with
            anp.array([x, y])
    """,
)
def product_in_place_of_one_entry():
    def scaled(x):
        y = np.ones(3)
        y[1] *= x  # <- here
        return y

    jit(scaled)(2.0)


@bad(
    TypeError,
    """
    MutationError: multiply: a traced result cannot be written into a plain array (out=, or an operator such as
            acc += x)
      in: scaled (here), under grad of scaled
      mend: write y = y * x
    """,
)
def operator_in_place_on_a_plain_array():
    def scaled(x):
        y = np.ones(3)
        y *= x  # <- here
        return np.sum(y)

    grad(scaled)(X)


@bad(
    TypeError,
    """
    MutationError: subtract: a traced result cannot be written into a plain array (out=, or an operator such as
            acc += x)
      in: scaled (here), under grad of scaled
      mend: write y = anp.at(y)[1:].subtract(x), with autodidax.numpy as anp
    """,
)
def operator_in_place_on_rows_of_a_plain_array():
    def scaled(x):
        y = np.ones((3, 3))
        y[1:] -= x  # <- here
        return np.sum(y)

    grad(scaled)(X)


@bad(
    TypeError,
    """
    MutationError: exp: a traced result cannot be written into a plain array (out=, or an operator such as acc
            += x)
      in: loss (here), under grad of loss
      mend: write y = anp.at(y)[1].set(np.exp(x)), with autodidax.numpy as anp
    """,
)
def out_argument_that_is_a_row():
    def loss(x):
        y = np.zeros((2, 3))
        np.exp(x, out=y[1])  # <- here
        return np.sum(y)

    grad(loss)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by grad of shifted: item assignment on a traced value
      in: shifted (here), under grad of shifted
      mend: write x = anp.at(x)[x > 0].subtract(1.0), with autodidax.numpy as anp
    """,
)
def subtraction_in_place_at_a_mask_under_grad():
    def shifted(x):
        x[x > 0] -= 1.0  # <- here
        return np.sum(x)

    grad(shifted)(X)


@bad(
    TypeError,
    """
    MutationError: Traced<f64[3]> by grad of shifted: item assignment on a traced value
      in: shifted (here), under grad of shifted
      mend: write x = anp.at(x)[0].divide(2.0), with autodidax.numpy as anp
    """,
)
def division_of_an_entry_in_place():
    def shifted(x):
        x[0] /= 2.0  # <- here
        return np.sum(x)

    grad(shifted)(X)


@bad(
    TypeError,
    """
    MutationError: add: a traced result cannot be written into a plain array (out=, or an operator such as acc
            += x)
      in: totals (here), under grad of totals
      mend: write sums[0] = sums[0] + x
    """,
)
def operator_in_place_on_an_array_in_a_list():
    def totals(x):
        sums = [np.zeros(3), np.zeros(3)]
        sums[0] += x  # <- here
        return np.sum(sums[0])

    grad(totals)(X)
