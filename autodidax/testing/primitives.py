"""check_primitive: every rule of a primitive over its samples."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import PYTHON_SCALARS, Masked, is_inexact
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.primitive import Primitive, Sample, products
from autodidax.primitives.convert import conj, stop_gradient_p
from autodidax.primitives.shape import transpose
from autodidax.testing import directions as dirs
from autodidax.testing.batching import check_batching
from autodidax.testing.comparison import close, same, snapshot
from autodidax.testing.completeness import derivative_rules, missing_rules
from autodidax.testing.kinks import check_between
from autodidax.testing.layers import check_orders, check_point
from autodidax.testing.numeric import directional_derivative
from autodidax.testing.point import Point
from autodidax.testing.points import point_names, points_beside
from autodidax.testing.report import Failure, Report, StopCheck, brief, raised
from autodidax.testing.rules import Rules, plain_list, traced_rules
from autodidax.testing.samples import cast_sample, few, largest_of_each_kind, plainest
from autodidax.testing.staging import check_staging
from autodidax.transforms.backward import fit_ct, transpose_jvp
from autodidax.transforms.derivatives import jvp, linear_transpose, linearize, vjp
from autodidax.transforms.forward import jvp_rule

MODES = ("fwd", "rev", "vmap", "jit")

#: without these nothing can be checked, and without those no derivative
UNUSABLE = frozenset({"impl", "abstract_eval"})
DERIVED_BY = frozenset({"jvp", "transpose"})

#: primitives whose derivative is not that of their implementation, by definition
BY_DEFINITION: dict[Primitive, str] = {stop_gradient_p: "the identity, with derivative zero by definition"}


def check_primitive(
    p: Primitive,
    modes: Sequence[str] = MODES,
    seeds: Sequence[int] = (0,),
    *,
    order: int = 2,
    slow: bool = False,
    fail_fast: bool = False,
    require_complete: bool = False,
    strict: bool = False,
    points: str | Sequence[str] = "all",
    dtype: str | None = None,
    only: tuple[int, str | None] | None = None,
) -> Report:
    """Check all rules of a primitive over its samples; the report lists what is wrong, missing, or not conclusive.

    Implementation against abstract evaluation; no mutation, no alias; forward mode against numeric derivatives;
    reverse mode as the transpose of forward mode; linearity; a hand-written vjp against the one derived from jvp;
    order 2 at one smooth sample of each kind (at all of them where `slow`); the batching rule against the loop; the
    staged program against the eager run. At those smooth samples, forward and reverse mode at points beside them too;
    at one of them order 2 with operands of zeros. Of a primitive that is `costly` few samples, at order 1 and without
    points, unless `slow`. What a missing rule would have to give is left out; `missing` names
    it.

    Parameters
    ----------
    strict : whether a rule that loses digits is a failure.
    points : "all", "given" or names of points beside the samples.
    dtype : check the samples in this floating or complex dtype instead of their own, where the primitive takes it.
    only : one sample's index, and the name of one point beside it or None for the sample itself.
    """
    start = time.perf_counter()
    report = Report(p.name, module=p.module, fail_fast=fail_fast, strict=strict)
    if p.checked is not True:
        reason = p.checked if isinstance(p.checked, str) else "its class says checked = False"
        report.skipped.append(reason)
        return report
    try:
        _note_missing(p, report, require_complete)
        modes = _possible(modes, report.missing)
        # without the warnings filter NumPy's warnings at singular points would count as errors in some settings
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for seed in seeds if UNUSABLE.isdisjoint(report.missing) else ():
                _check_seed(p, report, modes, seed, order, slow, point_names(points), dtype, only)
    except StopCheck:
        pass
    report.seconds = time.perf_counter() - start
    return report


def _note_missing(p: Primitive, report: Report, require_complete: bool) -> None:
    report.missing = missing_rules(p)
    if require_complete:
        for rule in report.missing:
            message = f"define {rule} on {type(p).__name__}, in {p.module}"
            report.fail(Failure(p.name, rule, "impl", "complete", message, module=p.module))


def _possible(modes: Sequence[str], missing: Sequence[str]) -> list[str]:
    """The modes that have rules to check."""
    lacking = {"vmap"} if "batch" in missing else set()
    lacking |= {"fwd", "rev"} if DERIVED_BY.intersection(missing) else set()
    return [m for m in modes if m not in lacking]


def _check_seed(
    p: Primitive,
    report: Report,
    modes: Sequence[str],
    seed: int,
    order: int,
    slow: bool,
    points: Sequence[str],
    dtype: str | None,
    only: tuple[int, str | None] | None,
) -> None:
    try:
        samples = list(p.samples(np.random.default_rng(seed)))
    except Exception as e:
        message = f"drawing the samples raised {type(e).__name__}: {e}"
        report.fail(Failure(p.name, "samples", "impl", "samples", message, seed=seed, module=p.module))
        return
    if not samples and "samples" not in report.missing:
        report.missing.append("samples")
    looked_at: Collection[int] = range(len(samples))
    if p.costly and not slow and only is None:
        points, order, looked_at = (), 1, few(samples)
    chosen = range(len(samples)) if slow else largest_of_each_kind(samples)
    deep = range(len(samples)) if slow else plainest(samples, chosen)
    for k, s in enumerate(samples):
        if (only is not None and only[0] != k) or k not in looked_at:
            continue
        if dtype is not None and (cast := cast_sample(p, s, np.dtype(dtype))) is not None:
            s = cast
        elif dtype is not None:
            continue
        report.samples += 1
        check = _SampleCheck(p, report, s, k, seed, order, points, chosen=k in chosen, deep=k in deep)
        if only is not None and only[1] is not None:
            check.run_beside((only[1],), [m for m in modes if m in ("fwd", "rev")])
        else:
            check.run(modes)
    if "vmap" in modes and samples and dtype is None and (only is None or only[1] is None):
        check_batching(p, report, samples, seed, looked_at if only is None else {only[0]})


class _SampleCheck:
    """All checks of one sample but that of the batching rule, which needs several draws."""

    def __init__(
        self,
        p: Primitive,
        report: Report,
        s: Sample,
        k: int,
        seed: int,
        order: int,
        points: Sequence[str],
        *,
        chosen: bool,
        deep: bool,
    ):
        self.p, self.report, self.sample, self.chosen = p, report, s, chosen
        self.order, self.points = (order, points) if chosen else (1, ())
        self.order_at_zeros = self.order if deep else 1
        self.seed = (seed, k)
        self.rng = np.random.default_rng(self.seed)
        self.name = f"{k} of seed {seed}: {s!r}"

    def fail(self, rule: str, mode: str, layer: str, message: str, **details: Any) -> None:
        p = self.p
        self.report.fail(Failure(p.name, rule, mode, layer, message, sample=self.name, module=p.module, **details))

    def draws(self, purpose: str) -> np.random.Generator:
        """Random numbers that do not depend on what else is checked, so that a case comes out the same alone."""
        return np.random.default_rng((*self.seed, *purpose.encode()))

    def guarded(self, rule: str, mode: str, check: Any) -> None:
        """A rule that raises is wrong, whatever it raises."""
        try:
            check()
        except StopCheck:
            raise
        except Exception as e:
            self.fail(rule, mode, "runs", f"raised {raised(e)}")

    def run(self, modes: Sequence[str]) -> None:
        failed = len(self.report.failures)
        self.guarded("impl", "impl", self.implementation)
        if any(f.rule == "impl" for f in self.report.failures[failed:]):
            return
        self.guarded("abstract_eval", "impl", self.abstract)
        chosen = [m for m in modes if m in ("fwd", "rev")]
        active = self.active()
        if active and chosen:
            self.differentiate(chosen, active)
        if "jit" in modes:
            check_staging(self.p, self.report, self.sample, self.name, self.outs, self.draws("staging"), active)
        if active and chosen and len(self.report.failures) == failed:
            self.beside(self.points, chosen, active)

    def run_beside(self, points: Sequence[str], modes: Sequence[str]) -> None:
        """Points beside the sample alone."""
        self.guarded("impl", "impl", self.implementation)
        if active := self.active():
            self.beside(points, modes, active)

    def beside(self, points: Sequence[str], modes: Sequence[str], active: Sequence[int]) -> None:
        p, s = self.p, self.sample
        if s.nonsmooth or p.nondifferentiable or p.zero_derivative or p in BY_DEFINITION:
            return
        composed = any(k in p.hermitian_operands for k in active)
        xs = [s.args[k] for k in active]
        for name, values, rng in points_beside(xs, self.seed, points):
            point = Point(
                self.rules(active, composed=composed), values, rng, self.report, modes=modes, sample=self.name,
                beside=name, seed=self.seed[0], thorough=False,
            )  # fmt: skip
            check_orders(point, self.order_at_zeros if name.startswith("zeros") else 1)

    def active(self) -> list[int]:
        """The operands that the primitive has a derivative in."""
        args = self.sample.args
        found = [k for k, a in enumerate(args) if is_inexact(dtype_of(a))]
        if not any(is_inexact(dtype_of(y)) for y in self.outs):
            return []
        if DERIVED_BY.intersection(self.report.missing):
            return []
        refused = [] if self.p.nondifferentiable else [k for k in found if self.refused(k)]
        self.report.skipped += [f"operand {k} of sample {self.name} has no derivative, by decision" for k in refused]
        return [k for k in found if k not in refused]

    def differentiate(self, modes: Sequence[str], active: Sequence[int]) -> None:
        p = self.p
        if p.nondifferentiable:
            self.guarded("nondifferentiable", "fwd", self.refuses)
        elif p in BY_DEFINITION:
            self.guarded("zero_derivative", "fwd", self.zero_by_definition)
        elif p.zero_derivative:
            self.guarded("zero_derivative", "fwd", self.constant)
        else:
            self.derivatives(modes, active)

    # implementation and abstract evaluation

    def implementation(self) -> None:
        p, s = self.p, self.sample
        kept = snapshot(s.args)
        out = plain_list(p.impl(*s.args, **s.params), p.multiple_results)
        self.outs = out
        if not same(kept, s.args):
            self.fail("impl", "impl", "purity", "the implementation changed its operands in place")
            return
        if not p.structural and not p.higher_order and p not in BY_DEFINITION:  # those may return an operand
            for k in _aliased(out, s.args):
                self.fail("impl", "impl", "purity", "the result shares memory with an operand", argument=f"operand {k}")
        again = plain_list(p.impl(*s.args, **s.params), p.multiple_results)
        if not same(again, out):
            self.fail("impl", "impl", "determinism", "two runs give different results")
        self.report.passed("impl")

    def abstract(self) -> None:
        p, s = self.p, self.sample
        avals = p.out_avals(*[get_aval(a) for a in s.args], **s.params)
        if len(avals) != len(self.outs):
            self.fail("abstract_eval", "impl", "structure", f"{len(avals)} avals for {len(self.outs)} results")
            return
        for k, (aval, y) in enumerate(zip(avals, self.outs, strict=True)):
            weak = type(y) in PYTHON_SCALARS
            if (aval.shape, aval.dtype, aval.weak_type) != (shape_of(y), dtype_of(y), weak):
                self.fail(
                    "abstract_eval", "impl", "structure", f"result {k} is not of the kind that the rule says",
                    expected=f"{dtype_of(y)}{list(shape_of(y))}{' weak' * weak} (implementation)",
                    got=f"{aval.dtype}{list(aval.shape)}{' weak' * aval.weak_type}",
                )  # fmt: skip
        self.report.passed("impl")

    # derivatives

    def rules(self, active: Sequence[int] | None = None, *, composed: bool = False, invariant: bool = False) -> Rules:
        """The primitive as a function of these operands (all by default), the others fixed.

        Operands that have to be Hermitian are replaced by their Hermitian part on the numeric side, since the
        implementation reads one triangle and the rule means changes of both; with `composed` on the other side too,
        as points beside the sample need.
        """
        p, s = self.p, self.sample
        positions = list(range(len(s.args))) if active is None else list(active)
        hermitian = [k for k in positions if k in p.hermitian_operands]

        def spread(xs: Sequence[Any], symmetric: bool) -> list[Any]:
            args = list(s.args)
            for k, x in zip(positions, xs, strict=True):
                args[k] = hermitian_part(x) if symmetric and k in hermitian else x
            return args

        def through_bind(*xs: Any) -> list[Any]:
            return chosen(plain_list(p.bind(*spread(xs, composed), **s.params), p.multiple_results))

        def implementation(*xs: Any) -> list[Any]:
            return chosen(plain_list(p.impl(*spread(xs, True), **s.params), p.multiple_results))

        def chosen(outs: list[Any]) -> list[Any]:
            return p.invariants(outs, **s.params) if invariant else outs

        through_bind.__name__ = p.name
        labels = [f"operand {k}" for k in positions]
        inexact = [k for k in positions if is_inexact(dtype_of(s.args[k]))]
        plain = None if p.higher_order else implementation
        return traced_rules(through_bind, p.name, labels, derivative_rules(p, inexact), plain)

    def derivatives(self, modes: Sequence[str], active: Sequence[int]) -> None:
        p, s = self.p, self.sample
        failed = len(self.report.failures)
        # one operand at a time goes by other rules than all of them: the transposes of partly linear primitives
        # and at a kink of a pointwise function, where only entries and operands that are smooth can be judged
        pointwise = s.nonsmooth and bool(products[p.code])
        for k in active if len(active) > 1 or pointwise else ():
            check_point(self.point([k], modes, value=pointwise, thorough=False, kinks_declared=s.nonsmooth))
        point = self.point(
            active, modes, value=not s.nonsmooth, kinks_declared=s.nonsmooth, special=self.chosen and not s.nonsmooth
        )
        check_point(point)
        if s.nonsmooth:
            check_between(point, "fwd")
            # at a point such as equal singular values the rule may say that there is no derivative
            if p.invariants is not None and all(np.all(np.isfinite(t)) for t in point.tys or [] if t is not None):
                check_point(self.point(active, modes, invariant=True, thorough=False, kinks_declared=True))
        if self.order > 1 and not s.nonsmooth and any(np.size(y) for y in self.outs):
            composed = any(k in p.hermitian_operands for k in active)
            check_orders(self.point(active, modes, composed=True) if composed else point, self.order, ran=not composed)
        if len(self.report.failures) == failed and p.higher_order:
            self.guarded("trace_linear", "fwd", lambda: self.linear_treatment(point, active))
        elif len(self.report.failures) == failed:
            self.guarded(point.rules.rule("fwd"), "fwd", lambda: self.precision_kept(point, active))
            if p.vjp is not None and "rev" in modes:
                self.guarded("vjp", "rev", lambda: self.vjp_agrees(point, active))

    def point(
        self,
        active: Sequence[int],
        modes: Sequence[str],
        *,
        composed: bool = False,
        invariant: bool = False,
        **options: Any,
    ) -> Point:
        xs = [self.sample.args[k] for k in active]
        rules = self.rules(active, composed=composed, invariant=invariant)
        return Point(rules, xs, self.rng, self.report, modes=modes, sample=self.name, **options)

    def refused(self, k: int) -> bool:
        """Whether a primitive says of one operand that it has no derivative, in both modes."""
        rules, xs = self.rules([k]), [self.sample.args[k]]
        assert rules.jvp is not None and rules.vjp is not None
        said = []
        for run in (
            lambda: rules.jvp(xs, dirs.tangents(self.rng, xs)),
            lambda: rules.vjp(xs)[1](dirs.cotangents(self.rng, self.outs)),
        ):
            try:
                run()
            except errors.NondifferentiableError:
                said.append(True)
            except Exception:  # other errors are for the check of that operand to report
                said.append(False)
            else:
                said.append(False)
        return all(said)

    def precision_kept(self, point: Point, active: Sequence[int]) -> None:
        """The raw tangent of a rule is not wider than its output: float32 stays float32 inside the rule."""
        p, s = self.p, self.sample
        tangents: list[Any] = [None] * len(s.args)
        for k, t in zip(active, point.ts, strict=True):
            tangents[k] = t
        raw = jvp_rule(p, self.outs if p.multiple_results else self.outs[0], s.args, tangents, s.params)
        inputs = dirs.unit_roundoff(s.args)
        for y, t in zip(self.outs, plain_list(raw, p.multiple_results), strict=True):
            if t is None or not is_inexact(dtype_of(y)) or type(t) in PYTHON_SCALARS:
                continue
            width, own = np.finfo(dtype_of(t)).eps, np.finfo(dtype_of(y)).eps
            if width < own and all(np.finfo(dtype_of(a)).eps == inputs for a in s.args if is_inexact(dtype_of(a))):
                message = "the rule computes in a wider precision than its operands"
                self.fail(
                    point.rules.rule("fwd"), "fwd", "dtype", message, expected=str(dtype_of(y)), got=str(dtype_of(t))
                )

    def linear_treatment(self, point: Point, active: Sequence[int]) -> None:
        """The linearized function against jvp, and its transpose against vjp."""
        p, s = self.p, self.sample
        xs, ts = [s.args[k] for k in active], point.ts

        def f(*values: Any) -> list[Any]:
            args = list(s.args)
            for k, x in zip(active, values, strict=True):
                args[k] = x
            outs = p.bind(*args, **s.params)
            return [y for y, kept in zip(outs, self.outs, strict=True) if is_inexact(dtype_of(kept))]

        cts = dirs.cotangents(self.draws("linear"), [y for y in self.outs if is_inexact(dtype_of(y))])
        _, f_jvp = linearize(f, *xs)
        pairs = [
            ("linearized = jvp", f_jvp(*ts), jvp(f, xs, ts)[1]),
            ("transpose of the linearized = vjp", linear_transpose(f_jvp, *xs)(cts), vjp(f, *xs)[1](cts)),
        ]
        for layer, got, want in pairs:
            for k, (a, b) in enumerate(zip(got, want, strict=True)):
                if not close(a, b):
                    self.fail("trace_linear", "fwd", layer, f"result {k} differs", expected=brief(b), got=brief(a))
        self.report.passed("fwd")

    def vjp_agrees(self, point: Point, active: Sequence[int]) -> None:
        """The hand-written vjp against the transpose of the jvp rule, for each operand alone and all together."""
        p, s = self.p, self.sample
        out = self.outs if p.multiple_results else self.outs[0]
        ct: Any = point.cts if p.multiple_results else point.cts[0]
        for subset in [list(active), *([k] for k in active if len(active) > 1)]:
            flags = tuple(k in subset for k in range(len(s.args)))
            hand = p.vjp(ct, out, s.args, flags, **s.params)
            derived = transpose_jvp(p, ct, subset, s.args, out, s.params)
            for k in subset:
                a = s.args[k]
                h, d = (np.zeros_like(a) if g is None else _fitted(g, a) for g in (hand[k], derived[k]))
                if not close(h, d, 1e4):
                    self.fail("vjp", "rev", "vjp = transposed jvp", "the hand-written vjp differs from the derived one",
                              argument=f"operand {k}", expected=brief(d), got=brief(h))  # fmt: skip
                    return
        self.report.passed("rev")

    def constant(self) -> None:
        """A primitive with derivative zero is piecewise constant."""
        s = self.sample
        rules = self.rules()
        ts = dirs.tangents(self.rng, s.args)
        if s.nonsmooth:
            return
        est = directional_derivative(rules.f, list(s.args), ts)
        if np.any(~(np.abs(est.value) <= 8 * est.error) & np.isfinite(est.error)):
            self.fail(
                "zero_derivative", "fwd", "value", "the derivative is not zero", expected=brief(est.value), got="0"
            )
        else:
            self.report.passed("fwd")

    def zero_by_definition(self) -> None:
        """The rules give zero, whatever the implementation does."""
        xs = list(self.sample.args)
        rules = self.rules()
        assert rules.jvp is not None and rules.vjp is not None
        tys = rules.jvp(xs, dirs.tangents(self.rng, xs))[1]
        gs = rules.vjp(xs)[1](dirs.cotangents(self.rng, self.outs))
        if any(t is not None and np.any(t) for t in (*tys, *gs)):
            self.fail("zero_derivative", "fwd", "value", BY_DEFINITION[self.p], expected="0", got=brief([*tys, *gs]))
        else:
            self.report.passed("fwd")

    def refuses(self) -> None:
        """A nondifferentiable primitive says so in both modes."""
        s, f = self.sample, self.rules()
        assert f.jvp is not None and f.vjp is not None
        args = list(s.args)
        for mode, run in (("fwd", lambda: f.jvp(args, dirs.tangents(self.rng, args))), ("rev", lambda: f.vjp(args))):
            try:
                run()
            except errors.NondifferentiableError:
                self.report.passed(mode)
            else:
                self.fail("nondifferentiable", mode, "refusal", "differentiating did not raise NondifferentiableError")


def _aliased(outs: Sequence[Any], args: Sequence[Any]) -> list[int]:
    """The operands that share memory with a result."""
    arrays = [(k, a) for k, a in enumerate(args) if type(a) is np.ndarray]
    return [k for k, a in arrays if any(type(y) is np.ndarray and np.shares_memory(y, a) for y in outs)]


def hermitian_part(x: Any) -> Any:
    """(x + x^H) / 2 over the last two axes, of a traced or plain value."""
    rank = len(shape_of(x))
    swapped = transpose(x, permutation=(*range(rank - 2), rank - 1, rank - 2))
    return (x + conj(swapped)) * 0.5


def _fitted(g: Any, like: Any) -> Any:
    """A rule's raw cotangent as the base hands it on: summed over broadcast axes, in the operand's dtype."""
    fitted = fit_ct(g, shape_of(like), dtype_of(like))
    return fitted.val if type(fitted) is Masked else fitted


__all__ = ["BY_DEFINITION", "MODES", "check_primitive"]
