"""A case as text, and back."""

import json
import shlex

import pytest

from autodidax import __main__ as command_line
from autodidax import errors
from autodidax.testing.commandline.repro import Repro, of_case, repro_of
from autodidax.testing.report import Failure

CASES = {
    "sin": Repro("sin"),
    "sin@seed=3": Repro("sin", seed=3),
    "my.module:f@sample=0,point=one entry zero,mode=rev,order=2": Repro(
        "my.module:f", sample=0, point="one entry zero", mode="rev", order=2
    ),
    "sin@seed=1,sample=12,point=zeros of 1,mode=jit,order=3,dtype=float32": Repro(
        "sin", 1, 12, "zeros of 1", "jit", 3, "float32"
    ),
    "sin@sample=0,mode=rev,modes=rev": Repro("sin", sample=0, mode="rev", modes="rev"),
    "sin@sample=0,point=after the others,mode=impl": Repro("sin", sample=0, point="after the others", mode="impl"),
}


@pytest.mark.parametrize("text", CASES)
def test_text_and_case_round_trip(text):
    assert Repro.parse(text) == CASES[text]
    assert str(CASES[text]) == text


def test_defaults_may_be_written():
    assert Repro.parse("sin@seed=0,sample=3,point=zeros,mode=rev,order=2") == Repro("sin", 0, 3, "zeros", "rev", 2)


@pytest.mark.parametrize(
    "text", ["", "@seed=1", "sin@", "sin@nothing", "sin@seed=x", "sin@seed=1,seed=2", "sin@mode=", "sin@colour=red"]
)
def test_what_cannot_be_read_raises(text):
    with pytest.raises(errors.ArgumentError, match="cannot read the case"):
        Repro.parse(text)


def test_the_case_of_a_failure():
    found = Failure(
        "f", "vjp", "rev", "value", "differs", sample="3 of seed 1: (float64[3]), batch size 2", point="ones", order=2
    )
    case = repro_of(found, "m:f", "float32")
    assert case == Repro("m:f", 1, 3, "ones", "rev", 2, "float32")
    assert case.command(strict=True) == (
        "python -m autodidax check --strict --repro m:f@seed=1,sample=3,point=ones,mode=rev,order=2,dtype=float32"
    )
    assert "'sin@point=one entry zero'" in Repro("sin", point="one entry zero").command()


def test_the_modes_of_a_check_are_part_of_a_case():
    found = Failure("f", "vjp", "rev", "value", "differs", sample="3 of seed 0: (float64[3])")
    assert str(repro_of(found, "m:f", modes=("rev",))) == "m:f@sample=3,mode=rev,modes=rev"
    assert str(repro_of(found, "m:f", modes=("jit", "rev", "fwd"))) == "m:f@sample=3,mode=rev,modes=fwd+rev+jit"


def test_of_what_is_found_the_case_is_kept_or_what_is_nearest_to_it():
    at = lambda mode, order, point="": Failure("f", "vjp", mode, "value", "differs", order=order, point=point)
    found = [at("fwd", 1), at("rev", 1), at("fwd", 2), at("fwd", 1, "zeros")]
    for wanted, kept in {
        Repro("f", sample=0, mode="fwd"): [0],
        Repro("f", sample=0, mode="fwd", order=2): [2],
        Repro("f", sample=0, mode="rev", order=2): [1],
        Repro("f", sample=0, point="zeros", mode="fwd"): [3],
        Repro("f", sample=0, mode="jit"): [0, 1, 2, 3],
        Repro("f"): [0, 1, 3],
    }.items():
        assert of_case(found, wanted) == [found[k] for k in kept]


def test_a_failure_without_a_sample_is_found_by_its_draw():
    found = Failure("f", "samples", "impl", "samples", "raised", seed=3)
    assert repro_of(found, "m:f") == Repro("m:f", seed=3)


def test_a_failure_without_a_sample_has_no_case():
    assert repro_of(Failure("f", "samples", "impl", "runs", "raised"), "m:f") is None


@pytest.mark.parametrize(
    "text", ["sin@mode=zzz", "sin@modes=rev+zzz", "sin@order=0", "sin@order=7", "sin@point=nowhere"]
)
def test_a_case_that_does_not_exist_is_refused(text):
    with pytest.raises(errors.ArgumentError, match="none of"):
        Repro.parse(text)


WRONG = """
from autodidax import stop_gradient
from autodidax.core.interpreters import Tracer

def rule_of(f, jvp):
    made = custom_jvp(f)
    made.defjvp(lambda xs, ts: (made(*xs), jvp(*xs, *ts)))
    return made

sign = rule_of(lambda x: anp.sin(x), lambda x, t: -anp.cos(x) * t)
at_ones = rule_of(lambda x: x * x, lambda x, t: 2 * x * t * anp.where(anp.all(x == 1), 2, 1))
detached = rule_of(lambda x: anp.exp(x), lambda x, t: stop_gradient(anp.exp(x)) * t)
ties = rule_of(lambda x, y: x * y, lambda x, y, t, u: t * y + x * u + anp.where(anp.all(x == y), t, 0 * t))
conjugate = rule_of(lambda z: z * z, lambda z, t: 2 * anp.conj(z) * t)
lossy = rule_of(lambda x: anp.sin(x), lambda x, t: (anp.cos(x) + 1e7 - 1e7) * t)
batched = rule_of(
    lambda x: anp.sin(x) + (isinstance(x, Tracer) and "vmap" in x._trace.describe()), lambda x, t: anp.cos(x) * t)

clips = custom_vjp(lambda x: anp.sin(x))
clips.defvjp(lambda x: (clips(x), x), lambda x, ct: (anp.clip(ct, -10, 10) * anp.cos(x),))

last = {}
keeps = custom_vjp(lambda x: anp.sin(x))
def keeps_fwd(x):
    slope = last.setdefault("slope", anp.cos(x)) if not isinstance(x, Tracer) else anp.cos(x)
    return anp.sin(x), slope
keeps.defvjp(keeps_fwd, lambda slope, ct: (slope * ct,))

def raises(x):
    if isinstance(x, Tracer):
        raise ValueError("traced")
    return anp.sin(x)

factor = pointwise("factor_of_user", np.square, lambda _, x: 2.1 * x)
residual = pointwise("residual_of_user", np.sin, lambda _, x: stop_gradient(anp.cos(x)))
class Half(Primitive):
    linear = True
    def impl(self, x): return x * 0.5
    def abstract_eval(self, x): return x
    def transpose(self, ct, x): return [ct * self.slope]
    def batch(self, args, dims): return self(*args) * self.batched, 0
    def samples(self, rng): return [sample(rng.normal(size=3)), sample(rng.normal(size=(3, 2)))]
    slope, batched = 0.5, 1
transposed, rows = Half("transpose_of_user"), Half("rows_of_user")
transposed.slope, rows.batched = 0.25, 2

def three(rng):
    return [(rng.normal(size=3),), (rng.normal(),), (rng.normal(size=(2, 2)),)]

check_samples = dict.fromkeys(("sign", "at_ones", "detached", "lossy", "batched", "clips", "keeps", "raises"), three)
check_samples |= {"ties": lambda rng: [(rng.normal(size=3), rng.normal(size=3))]}
check_samples |= {"conjugate": lambda rng: [(rng.normal(size=2) + 1j,)]}
"""


def _failures(capsys, *argv):
    code = command_line.main(["check", *argv, "--json", "-"])
    return code, [f for p in json.loads(capsys.readouterr().out)["primitives"] for f in p["failures"]]


@pytest.mark.parametrize(
    "options",
    ["--order 1", "--order 2", pytest.param("--order 3", marks=pytest.mark.slow), "--modes rev", "--modes fwd",
     "--modes jit,vmap", "--seeds 2", "--dtype float32", "--strict", "--points zeros,ones"],
)  # fmt: skip
def test_what_a_failure_prints_runs_exactly_that_failure_again(capsys, user_module, options):
    name = user_module(WRONG)
    _, found = _failures(capsys, name, *options.split())
    assert len({f["subject"] for f in found}) >= (2 if "jit" in options or "zeros" in options else 7)
    commands = {}
    for f in found:
        commands.setdefault(f["again"], []).append(f)
    of_subject = {f["subject"]: again for again, (f, *_) in reversed(commands.items())}  # the first of each
    for again in of_subject.values():
        code, once_more = _failures(capsys, *shlex.split(again)[4:])
        assert code == 1, again
        assert once_more == commands[again], again


def test_a_case_that_fails_at_a_lower_order_is_not_passed_over(capsys, user_module):
    name = user_module(WRONG)
    code, found = _failures(capsys, "--repro", f"{name}:sign@sample=0,mode=fwd,order=2")
    assert code == 1 and [f["order"] for f in found] == [1]


def test_a_case_that_passes_says_what_that_means(capsys):
    assert command_line.main(["check", "--repro", "sin@sample=0,mode=fwd"]) == 0
    assert "the case passes" in capsys.readouterr().out
