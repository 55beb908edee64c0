"""A wrong rule of any primitive makes its check fail: every rule of every primitive, made wrong one at a time.

The ordinary run takes one mutant a primitive, another one each day (AUTODIDAX_ROTATION fixes which); the slow run
takes them all, as `python -m autodidax check --mutate` does.
"""

import datetime
import functools
import io
import os

import numpy as np
import pytest

from autodidax.__main__ import load_all
from autodidax.core.primitive import Primitive, pointwise, registry, sample
from autodidax.testing.completeness import missing_rules
from autodidax.testing.mutation import run as mutation_run
from autodidax.testing.mutation.equivalents import EQUIVALENT
from autodidax.testing.mutation.mutants import mutants, unmutated
from autodidax.testing.mutation.run import known_failures, numeric_noise, outcome, outcomes_of, run_mutation
from autodidax.testing.mutation.sources import called_functions, source_changes
from autodidax.testing.primitives import check_primitive

load_all()
ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
CHECKED = [p for p in registry if p.checked is True and not missing_rules(p)]


mutants_of = functools.cache(mutants)


@pytest.mark.parametrize("p", CHECKED, ids=str)
def test_one_wrong_rule_is_noticed(p):
    found = mutants_of(p)
    mutant = found[ROTATION % len(found)]
    print(f"AUTODIDAX_ROTATION={ROTATION}: {mutant.id}")
    result = outcome(mutant, functools.partial(known_failures, p))
    assert result.explained, f"{result.name}: {result.state}"


@pytest.mark.slow
@pytest.mark.parametrize("p", CHECKED, ids=str)
def test_every_wrong_rule_is_noticed(p):
    assert not [f"{o.name}: {o.state}" for o in outcomes_of(p) if not o.explained]


def test_every_rule_has_a_mutant_or_a_reason():
    for p in registry:
        changed = {m.rule for m in mutants_of(p)}
        reasons = unmutated(p)
        assert changed or reasons, f"{p.name}: no rule is changed, and no reason is given"
        if "all" not in reasons:
            wanted = {"impl", "abstract_eval", "trace_batch" if p.higher_order else "batch"}
            assert wanted <= changed, f"{p.name}: {wanted - changed}"


def test_written_reasons_are_of_mutants_that_exist():
    for name in {name for name, *_ in EQUIVALENT}:
        made = {(name, m.rule, m.operator, m.target) for m in mutants_of(registry[name])}
        assert {key for key in EQUIVALENT if key[0] == name} <= made


def test_no_two_mutants_have_the_same_name():
    for name in ("qr", "arctan2", "loop", "solve"):
        names = [m.id for m in mutants_of(registry[name])]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["sin", "mul", "solve", "loop"])
def test_mutants_leave_no_trace(name):
    p = registry[name]
    before = dict(vars(p))
    for mutant in mutants(p):
        with mutant.active():
            pass
    assert vars(p) == before
    assert check_primitive(p, order=1).ok


# what becomes of mutants, on primitives made for it


def _states(p):
    return {(o.rule, o.operator, o.target): o.state for o in outcomes_of(p)}


def _cube(**options):
    return pointwise("cube_mutated", lambda x: x * x * x, lambda _y, x: 3.0 * x * x, register=False, **options)


def test_a_pointwise_rule_in_full():
    states = _states(_cube())
    assert set(states.values()) <= {"killed", "not applicable"}
    for operator in ("negated", "scaled", "dropped", "flipped", "residual detached", "cotangent detached"):
        assert states["products", operator, ""] == "killed"
    assert states["products", "factor dropped", "3.0 * x * x as 3.0 * x"] == "killed"
    assert states["batch", "rows rolled", ""] == "killed"
    assert states["abstract_eval", "weak type", ""] == "killed"


class _Halves(Primitive):
    """x/2, with a special case in its rule that one sample may or may not run."""

    linear = True

    def __init__(self, *shapes):
        super().__init__("halves_mutated", register=False)
        self.shapes = shapes

    def impl(self, x):
        return x * 0.5

    def abstract_eval(self, x):
        return x.update(weak_type=False)

    def transpose(self, ct, x):
        return [ct * 0.5]

    def batch(self, args, dims):
        return args[0] * 0.5, 0

    def samples(self, rng):
        for shape in self.shapes:
            yield sample(rng.normal(size=shape))


def test_what_no_sample_shows_is_told():
    states = _states(_Halves((1,)))
    assert states["transpose", "flipped", ""] == "not applicable"
    assert states["transpose", "negated", ""] == "killed"
    assert _states(_Halves((3,)))["transpose", "flipped", ""] == "killed"


def test_a_change_without_effect_is_equivalent():
    halves = pointwise(
        "square_mutated", lambda x: x * x, lambda _y, x: x + x, register=False, complex_ok=False,
        samples=lambda rng: iter([sample(rng.normal(size=3))]),
    )  # fmt: skip
    states = _states(halves)
    assert states["products", "sign flipped", "x + x as x - x"] == "killed"
    zero = pointwise(
        "zero_mutated", lambda x: 0.0 * x, lambda _y, x: 0.0 * x, register=False, complex_ok=False,
        samples=lambda rng: iter([sample(rng.normal(size=3))]),
    )  # fmt: skip
    assert _states(zero)["products", "negated", ""] == "equivalent"


def _single_precision_sine(x):
    return np.sin(np.asarray(x, np.float32)).astype(np.float64)[()]


def test_a_small_error_of_a_noisy_function_is_below_noise():
    noisy = pointwise(
        "noisy_mutated", _single_precision_sine, lambda _y, x: _cosine(x), register=False, complex_ok=False,
        samples=lambda rng: iter([sample(rng.normal(size=3))]),
    )  # fmt: skip
    assert numeric_noise(noisy) > 1e-8
    assert _states(noisy)["products", "scaled", ""] == "below noise"
    assert numeric_noise(registry["sin"]) < 1e-9


def _cosine(x):
    return registry["cos"](x)


def test_the_command_s_function_prints_tables_and_survivors(monkeypatch):
    out = io.StringIO()
    assert run_mutation([_cube()], jobs=1, seed=0, out=out, verbose=True) == 0
    text = out.getvalue()
    assert "operator" in text and "rule" in text and "killed" in text
    assert "every mutant is killed or explained" in text

    out = io.StringIO()
    monkeypatch.setattr(mutation_run, "killing", lambda *args, **options: [])  # a checker that sees nothing
    assert run_mutation([_Halves((3,))], jobs=1, seed=0, out=out, verbose=False) == 1
    assert "UNEXPLAINED" in out.getvalue()
    assert "\n  halves_mutated: transpose: negated: no sample runs it\n" in out.getvalue()


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"transpose": lambda self, ct, x: [ct * 2.0]}, "its own rules fail: transpose"),
        ({"transpose": Primitive.transpose, "batch": Primitive.batch}, "missing: batch, transpose"),
    ],
)
def test_wrong_and_missing_rules_have_to_be_mended_first(rules, reason):
    wrong = type("Wrong", (_Halves,), rules)((3,))
    out = io.StringIO()
    assert run_mutation([wrong], jobs=1, seed=0, out=out, verbose=False) == 1
    assert f"halves_mutated: {reason}" in out.getvalue()
    assert "1 primitive NOT TRIED" in out.getvalue().splitlines()[-1]


# changes of source


def _outer(scale):
    def rule(x, y=2.0):
        return -x * scale + _doubled(y)

    return rule


def _doubled(y):
    return y + y


def test_sources_are_changed_one_node_at_a_time():
    changed = {(c.operator, c.text): c.function for c in source_changes(_outer(3.0))}
    assert changed["term dropped", "-x * scale + _doubled(y) as -x * scale"](1.0) == -3.0
    assert changed["sign flipped", "-x * scale + _doubled(y) as -x * scale - _doubled(y)"](1.0) == -7.0
    assert changed["factor dropped", "-x * scale as -x"](1.0) == 3.0
    assert changed["sign flipped", "-x as x"](1.0) == 7.0
    assert list(called_functions(_outer(3.0))) == ["_doubled"]
    assert not list(source_changes(np.sin))


def test_lambdas_on_one_line_are_told_apart():
    first, second = (lambda x: x + 1.0, lambda x: x * 2.0)
    assert [c.text for c in source_changes(first)] == ["x + 1.0 as x", "x + 1.0 as 1.0", "x + 1.0 as x - 1.0"]
    assert [c.text for c in source_changes(second)] == ["x * 2.0 as x", "x * 2.0 as 2.0"]
