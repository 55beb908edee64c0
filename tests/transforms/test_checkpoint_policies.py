"""Policies of checkpoint: the derivative is the same whatever is kept, and what is kept is what the policy says."""

import tracemalloc

import numpy as np
import pytest

import autodidax as ad
from autodidax import checkpoint_policies as policies
from autodidax.ad_checkpoint import checkpoint_name, print_saved_residuals, saved_residuals

RNG = np.random.default_rng(0)
WEIGHTS = [RNG.normal(size=(4, 4)) for _ in range(3)]
X = RNG.normal(size=(2, 4))


def layer(w, x):
    hidden = np.tanh(checkpoint_name(x @ w, "sums"))
    return np.maximum(np.sin(hidden), -0.5) * checkpoint_name(hidden * 2.0, "doubled")


def plain(weights, x):
    for w in weights:
        x = layer(w, x)
    return np.sum(x * x)


def kept_by(policy):
    def net(weights, x):
        f = ad.checkpoint(layer, policy=policy)
        for w in weights:
            x = f(w, x)
        return np.sum(x * x)

    return net


# policy -> how many values of a layer it keeps
POLICIES = {
    "none": (None, 0),
    "everything_saveable": (policies.everything_saveable, 8),
    "nothing_saveable": (policies.nothing_saveable, 0),
    "dots_saveable": (policies.dots_saveable, 1),
    "dots_with_no_batch_dims_saveable": (policies.dots_with_no_batch_dims_saveable, 1),
    "save_only_these_names": (policies.save_only_these_names("doubled"), 1),
    "save_any_names_but_these": (policies.save_any_names_but_these("doubled"), 1),
    "save_anything_except_these_names": (policies.save_anything_except_these_names("sums"), 7),
    "save_from_both_policies": (
        policies.save_from_both_policies(policies.dots_saveable, policies.save_only_these_names("doubled")), 2),
    "save_and_offload_only_these_names": (
        policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["sums"], names_which_can_be_offloaded=["doubled"]), 2),
    "offload_dot_with_no_batch_dims": (policies.offload_dot_with_no_batch_dims("device", "pinned_host"), 1),
    "a function": (lambda primitive, *avals, **params: primitive.name == "tanh" and avals[0].shape == (2, 4), 1),
}  # fmt: skip

TRANSFORMS = {
    "grad": lambda f: ad.grad(f)(WEIGHTS, X),
    "jit of grad": lambda f: ad.jit(ad.grad(f))(WEIGHTS, X),
    "grad of jit": lambda f: ad.grad(ad.jit(f))(WEIGHTS, X),
    "jvp of grad": lambda f: ad.jvp(lambda w: ad.grad(f)(w, X), (WEIGHTS,), (WEIGHTS,))[1],
    "grad of jvp": lambda f: ad.grad(lambda w: ad.jvp(lambda w: f(w, X), (w,), (WEIGHTS,))[1])(WEIGHTS),
    "grad of grad": lambda f: ad.grad(lambda w: sum(np.sum(g * g) for g in ad.grad(f)(w, X)))(WEIGHTS),
    "vmap of grad": lambda f: ad.vmap(ad.grad(f), in_axes=(None, 0))(WEIGHTS, np.stack([X, 2 * X])),
    "linearize": lambda f: ad.linearize(lambda w: f(w, X), WEIGHTS)[1](WEIGHTS),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", POLICIES)
def test_derivatives_do_not_depend_on_the_policy(name, transform):
    run = TRANSFORMS[transform]
    got, want = run(kept_by(POLICIES[name][0])), run(plain)
    for a, b in zip(ad.tree.leaves(got), ad.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", POLICIES)
def test_what_is_kept_is_what_the_policy_says(name):
    policy, count = POLICIES[name]
    program = ad.make_jaxpr(lambda w, x: ad.vjp(ad.checkpoint(layer, policy=policy), w, x)[0])(WEIGHTS[0], X)
    [forward] = [eqn for eqn in program.eqns if eqn.primitive.name == "checkpoint"]
    kept = forward.outvars[1:]
    assert len(kept) <= count and (len(kept) > 0) == (count > 0)
    made = [eqn.primitive.name for eqn in forward.params["jaxpr"].eqns]
    assert ("matmul" in made) and made.count("matmul") == 1


def test_the_backward_pass_computes_the_rest_again():
    def backward(policy):
        f = ad.checkpoint(layer, policy=policy)
        program = ad.make_jaxpr(ad.grad(lambda w, x: np.sum(f(w, x))))(WEIGHTS[0], X)
        last = [eqn for eqn in program.eqns if eqn.primitive.name == "checkpoint"][-1]
        return [eqn.primitive.name for eqn in last.params["jaxpr"].eqns]

    assert backward(None).count("matmul") == 2 and "tanh" in backward(None)  # once again, and its transpose
    assert backward(policies.dots_saveable).count("matmul") == 1 and "tanh" in backward(policies.dots_saveable)
    assert "tanh" not in backward(policies.everything_saveable)


def test_structural_zeros_are_kept_under_a_policy():
    f = ad.checkpoint(lambda x: np.where(x > 0, np.sqrt(x), 0.0), policy=policies.everything_saveable)
    with np.errstate(invalid="ignore"):
        gradient = ad.grad(lambda x: np.sum(f(x)))(np.array([4.0, 0.0, -1.0]))
    np.testing.assert_array_equal(gradient, [0.25, 0.0, 0.0])


def test_effects_happen_once():
    seen = []

    def f(x):
        ad.debug.callback(lambda v: seen.append(float(v)), x)
        return np.sin(np.sin(x))

    for policy in (None, policies.everything_saveable, policies.nothing_saveable):
        ad.grad(ad.checkpoint(f, policy=policy))(0.5)
    assert seen == [0.5, 0.5, 0.5]


def test_a_chain_of_layers_takes_a_part_of_the_memory():
    n, layers = 200_000, 64

    def chain(f):
        def total(x):
            for _ in range(layers // 8):
                x = f(x)
            return np.sum(x)

        return total

    def eight(x):
        for _ in range(8):
            x = np.sin(x) * 1.01
        return x

    def peak(f):
        run = ad.jit(ad.grad(chain(f)))
        x = np.linspace(0.0, 1.0, n)
        run(x)
        tracemalloc.start()
        try:
            run(x)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with ad.config.override(num_threads=1):
        assert peak(ad.checkpoint(eight)) < 20 * 8 * n  # 8 inputs of groups, and one group
        np.testing.assert_allclose(
            ad.jit(ad.grad(chain(ad.checkpoint(eight))))(np.ones(3)), ad.grad(chain(eight))(np.ones(3)), rtol=1e-13
        )


def test_saved_residuals(capsys):
    found = saved_residuals(lambda w: np.sum(np.sin(X @ w)), WEIGHTS[0])
    assert [(aval.shape, "cos" in origin) for aval, origin in found] == [((2, 4), True)]
    print_saved_residuals(ad.checkpoint(lambda w: np.sum(np.sin(X @ w))), WEIGHTS[0])
    assert capsys.readouterr().out == "f64[4,4] from the argument 'w'\n"
    print_saved_residuals(lambda x: np.exp(x), 1.0)
    assert capsys.readouterr().out.startswith("f64[] output of exp from test_checkpoint_policies.py:")


def test_names_of_a_policy_are_text():
    with pytest.raises(ad.errors.ArgumentError, match="names are text, got int"):
        policies.save_only_these_names(3)
