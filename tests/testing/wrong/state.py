"""Rules that remember: calls that differ, residuals that mix, buffers that are shared, arguments that are changed."""

import numpy as np

from tests.testing.wrong.case import Case, forward, normal, reverse

X = normal(6)


def sin_vjp(x, ct):
    return ct * np.cos(x)


def sin_jvp(x, t):
    return t * np.cos(x)


def sin_pullback(x):
    c = np.cos(x)
    return np.sin(x), lambda ct: (ct * c,)


def flat(name, wrong, **options):
    """sin with a flat reverse rule, a factory."""
    return reverse(name, np.sin, sin_vjp, wrong, X, fresh=True, **options)


def pulled(name, wrong, **options):
    """sin with a pullback, a factory."""
    return reverse(name, np.sin, sin_pullback, wrong, X, form="pullback", fresh=True, **options)


def every(n, mangle):
    def factory():
        calls = [0]

        def rule(x, v):
            calls[0] += 1
            return mangle(v * np.cos(x)) if calls[0] % n == 0 else v * np.cos(x)

        return rule

    return factory


def first_result_kept():
    kept = []

    def rule(x, ct):
        kept.append(ct * np.cos(x))
        return kept[0].copy()

    return rule


def residual_by_shape():
    kept = {}

    def rule(x, ct):
        return ct * kept.setdefault(x.shape, np.cos(x))

    return rule


def residual_by_address():
    """One residual for all points: what a cache keyed on the address of a reused array does."""
    kept = {}

    def f_vjp(x):
        c = kept.setdefault("x", np.cos(x))
        return np.sin(x), lambda ct: (ct * c,)

    return f_vjp


def residual_in_a_global():
    store = {}

    def f_vjp(x):
        store["c"] = np.cos(x)
        return np.sin(x), lambda ct: (ct * store["c"],)

    return f_vjp


def residual_stack():
    stack = []

    def f_vjp(x):
        stack.append(np.cos(x))
        return np.sin(x), lambda ct: (ct * (stack.pop() if len(stack) > 1 else stack[0]),)

    return f_vjp


def usable_once():
    def f_vjp(x):
        c = [np.cos(x)]
        return np.sin(x), lambda ct: (ct * c.pop(),)

    return f_vjp


def zero_from_the_second_call():
    def f_vjp(x):
        c = np.cos(x)

        def pull(ct):
            g = ct * c
            c[...] = 0.0
            return (g,)

        return np.sin(x), pull

    return f_vjp


def accumulating():
    def f_vjp(x):
        total = np.zeros_like(x)

        def pull(ct):
            nonlocal total
            total = total + ct * np.cos(x)
            return (total,)

        return np.sin(x), pull

    return f_vjp


def residual_returned():
    """The residual is multiplied in place and handed out."""

    def f_vjp(x):
        c = np.cos(x)

        def pull(ct):
            np.multiply(np.cos(x), ct, out=c)
            return (c,)

        return np.sin(x), pull

    return f_vjp


def shared_tangent_buffer():
    buffers = {}

    def rule(x, t):
        return np.multiply(t, np.cos(x), out=buffers.setdefault(x.shape, np.empty_like(x)))

    return rule


def shared_cotangent_buffer():
    buffers = {}

    def rule(x, ct):
        return np.multiply(ct, np.cos(x), out=buffers.setdefault(x.shape, np.empty_like(x)))

    return rule


def random_noise():
    rng = np.random.default_rng()

    def rule(x, ct):
        return ct * np.cos(x) * (1 + 1e-12 * rng.standard_normal(x.shape))

    return rule


def random_mask():
    rng = np.random.default_rng()

    def rule(x, ct):
        return ct * np.cos(x) * (rng.random(x.shape) > 0.5)

    return rule


def one_of_two_results():
    """Alternates between two orders of summation."""
    calls = [0]

    def rule(x, ct):
        calls[0] += 1
        w = np.linspace(0.1, 0.7, x.size)
        total = np.sum(ct * w) if calls[0] % 2 else np.sum((ct * w)[::-1]) * (1 + 1e-13)
        return total * np.ones_like(x)

    return rule


def kept_by(key):
    """cos, computed once for all arguments of the same key."""

    def factory():
        kept = {}

        def rule(x, v):
            return v * kept.setdefault(key(x), np.cos(x))

        return rule

    return factory


def kept_while_close(**tolerances):
    """cos, computed again when the argument has moved."""

    def factory():
        kept = [np.inf, np.inf]

        def rule(x, v):
            if np.shape(kept[0]) != x.shape or not np.allclose(kept[0], x, **tolerances):
                kept[:] = x.copy(), np.cos(x)
            return v * kept[1]

        return rule

    return factory


WEIGHTS = np.linspace(0.1, 0.7, 6)


def changes_point(x, ct):
    g = ct * np.cos(x)
    x += 1.0
    return g


def sorts_point(x, ct):
    x.sort()
    order = np.argsort(x)
    g = np.zeros_like(x)
    g[order] = ct
    return g


def shifts_point_and_back(x, ct):
    g = ct * np.cos(x)
    x += 0.1
    x -= 0.1
    return g


def changes_cotangent(x, ct):
    ct *= np.cos(x)
    return ct


def changes_second_cotangent(x, ct):
    g = ct[0] * np.cos(x)
    ct[1][...] *= np.sin(x)
    return g - ct[1]


def changes_tangent(x, t):
    t *= np.cos(x)
    return t.copy()


def changes_point_forward(x, t):
    np.cos(x, out=x)
    return x * t


def clears_cotangent(x, ct):
    g = ct * np.cos(x)
    ct[...] = 0.0
    return g


def sorted_in_place(x):
    x.sort()
    return x.copy()


def normalized_in_place(x):
    x /= np.sqrt(x @ x)
    return x * 1.0


def normalized(x):
    return x / np.sqrt(x @ x)


def normalized_vjp(x, ct):
    y, n = normalized(x), np.sqrt(x @ x)
    return (ct - y * (y @ ct)) / n


CASES = [
    flat("fourth call doubled", every(4, lambda g: 2 * g)),
    flat("seventh call negated", every(7, lambda g: -g)),
    flat("ninth call nan", every(9, lambda g: g * np.nan)),
    flat("second call zero", every(2, lambda g: 0 * g)),
    forward("second tangent doubled", np.sin, sin_jvp, every(2, lambda g: 2 * g), X, fresh=True),
    forward("fifth tangent a little off", np.sin, sin_jvp, every(5, lambda g: g * (1 + 1e-12)), X, fresh=True),
    flat("first result kept", first_result_kept),
    flat("residual kept by shape", residual_by_shape),
    *(flat(f"residual kept while {name}", factory) for name, factory in [
        ("all is close", kept_while_close()), ("all is within a hundredth", kept_while_close(rtol=1e-2)),
        ("it rounds the same", kept_by(lambda x: np.round(x, 3).tobytes())),
        ("the sum is the same", kept_by(lambda x: float(x.sum()))),
        ("the entries are the same", kept_by(lambda x: tuple(sorted(x))))]),
    forward(
        "residual kept while all is close, forward", np.sin, sin_jvp, kept_while_close(), X, fresh=True),
    pulled("residual of the first point kept", residual_by_address),
    pulled("residual in a global", residual_in_a_global),
    pulled("residuals on a stack", residual_stack),
    pulled("usable once", usable_once),
    pulled("zero from the second call", zero_from_the_second_call),
    pulled("accumulating", accumulating),
    pulled("residual handed out and overwritten", residual_returned),
    forward("tangents in a shared buffer", np.sin, sin_jvp, shared_tangent_buffer, X, fresh=True),
    flat("cotangents in a shared buffer", shared_cotangent_buffer),
    flat("random noise", random_noise),
    flat("entries dropped at random", random_mask),
    Case(
        "two orders of summation", lambda x: np.sum(x) * WEIGHTS, X,
        vjp=lambda x, ct: np.sum(ct * WEIGHTS) * np.ones(6), wrong_vjp=one_of_two_results, fresh=True),
    reverse("changes the point", np.sin, sin_vjp, changes_point, X),
    reverse(
        "sorts the point", np.sort, lambda x, ct: ct[np.argsort(np.argsort(x))], sorts_point,
        lambda rng: (np.sort(rng.standard_normal(6)),)),
    reverse("shifts the point and back", np.sin, sin_vjp, shifts_point_and_back, normal(40)),
    reverse("changes the cotangent", np.sin, sin_vjp, changes_cotangent, X),
    reverse("clears the cotangent", np.sin, sin_vjp, clears_cotangent, X),
    reverse(
        "changes the second cotangent", lambda x: (np.sin(x), np.cos(x)),
        lambda x, ct: ct[0] * np.cos(x) - ct[1] * np.sin(x), changes_second_cotangent, X),
    forward("changes the tangent", np.sin, sin_jvp, changes_tangent, X),
    forward("changes the point in forward mode", np.sin, sin_jvp, changes_point_forward, X),
    Case(
        "the function sorts its argument in place", np.sort, X, vjp=lambda x, ct: ct[np.argsort(np.argsort(x))],
        wrong_f=sorted_in_place),
    Case(
        "the function normalizes its argument in place", normalized, X, vjp=normalized_vjp,
        wrong_f=normalized_in_place),
]  # fmt: skip
