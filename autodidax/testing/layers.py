"""The layers of a check at one point: structure, purity, determinism, linearity, layout, adjoint, value, precision.

Each compares rules with each other, exactly or to rounding, but for the value layer, which compares them with a
numeric derivative and its error estimate. Tolerances are derived: from the machine epsilon of the dtypes at hand, the
natural scale of what is summed, the estimated error of the numeric side, and, where that is not enough, the rule's own
rounding noise, measured by moving its inputs by one unit in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs
from autodidax.testing import precision as digits
from autodidax.testing.comparison import ROUNDINGS, close, entry, filled, kind, same, snapshot
from autodidax.testing.diagnosis import diagnose, guess
from autodidax.testing.linearity import ERRORS, OTHER_FACTORS, check_layout, check_linearity
from autodidax.testing.numeric import Estimate, directional_derivative, pack, widened
from autodidax.testing.report import Failure, Report, StopCheck, brief
from autodidax.testing.rules import Rules, StructureMismatch, forward_map, reverse_map

FURTHER = (16.0, 2.0**12, 2.0**20, 2.0**24)  # steps at which the size of a function is looked for
DIRECTIONS = 12  # in which a numeric derivative has to be linear
RESOLUTION = 1e-8  # of that size, below which a function may be flat by rounding
LOPSIDED = 1e-3  # an argument whose share of the derivative is less is looked at alone


class Point:
    """A check of one function's rules at one point, which reports under one sample's name.

    A point beside the given one (`beside` is its name) is outside the domain where the function raises or is nowhere
    finite, and what cannot be judged there is counted apart.
    """

    def __init__(
        self,
        rules: Rules,
        xs: Sequence[Any],
        rng: np.random.Generator,
        report: Report,
        *,
        modes: Sequence[str] = ("fwd", "rev"),
        inner_modes: Sequence[str] | None = None,
        sample: str = "",
        beside: str = "",
        seed: int | None = None,
        again: Callable[[Point, str], str] | None = None,
        order: int = 1,
        path: str = "",
        value: bool = True,
        thorough: bool = True,
        full: bool = False,
        overrides: dict[str, float] | None = None,
        accuracy: float = 0.0,
        kinks_declared: bool = False,
    ):
        self.rules = rules
        self.xs = list(xs)
        self.rng = rng
        self.report = report
        self.modes = modes
        self.inner_modes = modes if inner_modes is None else inner_modes  # of the checks of higher order
        self.sample = sample
        self.beside = beside
        self.seed = seed
        self.again = again
        self.order = order
        self.path = path
        self.value = value
        self.thorough = thorough
        self.full = full  # compare whole Jacobians as well
        self.overrides = overrides or {}
        self.kinks_declared = kinks_declared  # inconclusive entries are expected, and not listed
        self.accuracy = accuracy  # of the function that this one was derived from
        self.failed = False
        self.defined = False
        self.judged = False
        self.tys: list[Any] | None = None
        self.gs: list[Any] | None = None
        self.parts: dict[int, list[Any]] = {}

    # reporting

    def fail(self, mode: str, layer: str, message: str, **details: Any) -> None:
        self.failed = True
        self.report.fail(self.failure(mode, layer, message, **details))

    def failure(self, mode: str, layer: str, message: str, **details: Any) -> Failure:
        return Failure(
            self.rules.name, self.rules.rule(mode), mode, layer, message, path=self.path, order=self.order,
            sample=self.sample, point=self.beside, seed=self.seed, module=self.report.module,
            again=self.again(self, mode) if self.again is not None else "", **details,
        )  # fmt: skip

    def unsure(self, mode: str, why: str) -> None:
        if self.kinks_declared or self.beside:
            return
        where = f" ({self.path})" if self.path else ""
        self.report.inconclusive.append(f"{mode}{where}: {self.sample or 'the point'}: {why}")

    # the whole

    def run(self) -> None:
        with np.errstate(all="ignore"):
            self.defined = self.evaluate()
            if not self.defined:
                return
            self.ts = dirs.tangents(self.rng, self.xs)
            self.cts = dirs.cotangents(self.rng, self.ys)
            for mode, rule, check in (
                ("fwd", self.rules.jvp, self.forward), ("rev", self.rules.vjp, self.reverse),
            ):  # fmt: skip
                if mode in self.modes and rule is not None:
                    self.guarded(mode, check)
            if self.judged and self.beside:
                self.report.points[self.beside.split(" of ")[0]] += 1

    def guarded(self, mode: str, check: Callable[[], None]) -> None:
        """A rule that raises is wrong, whatever it raises; beside the given point that may be said on purpose."""
        try:
            check()
        except StopCheck:
            raise
        except StructureMismatch as e:
            self.fail(mode, "structure", str(e))
        except Exception as e:
            message = f"the rule raised {type(e).__name__}: {e}"
            if not self.beside:
                self.fail(mode, "runs", message)
            elif isinstance(e, errors.NondifferentiableError) or not self.smooth():
                return
            else:
                self.report.warn(
                    self.failure(mode, "runs", message + ", at a point where the function is smooth")
                )

    def smooth(self) -> bool:
        est = self.estimate(self.ts)
        return bool(np.all(est.conclusive(est.value, self.precision)))

    def evaluate(self) -> bool:
        """Run the function; whether there is something to differentiate."""
        xs = self.xs
        kept = snapshot(xs)
        try:
            self.ys = [np.asarray(y)[()] for y in self.rules.f(list(xs))]
            outs = snapshot(self.ys)
            again = [np.asarray(y)[()] for y in self.rules.f(list(xs))]
        except Exception:
            if self.beside:
                return False
            raise
        if not same(kept, xs):
            self.fail("impl", "purity", "the function changed its arguments in place")
            return False
        if not any(is_inexact(dtype_of(x)) for x in xs) or not any(is_inexact(dtype_of(y)) for y in self.ys):
            return False
        if self.beside and not any(np.all(np.isfinite(y)) for y in self.ys if is_inexact(dtype_of(y))):
            return False
        if not same(outs, again):
            self.unsure("impl", "two runs of the function at the same arguments give different values: it is noisy")
            return False
        if self.thorough and not self.path:
            self.no_shared_result(outs)
        self.accuracy = max(self.accuracy, self.own_accuracy())
        return True

    def no_shared_result(self, outs: list[Any]) -> None:
        """The function's result outlives its next call, at other arguments."""
        try:
            self.rules.f(dirs.nudged(self.rng, self.xs))
        except Exception:  # it need not be defined there
            return
        if not same(outs, self.ys):
            self.fail("impl", "purity", "a later call of the function changed the result of an earlier one")

    def estimate(self, ts: list[Any], *, quick: bool = False) -> Estimate:
        return directional_derivative(
            self.rules.f, self.xs, ts, precision=self.precision, eps=self.accuracy, step=self.overrides.get("eps"),
            quick=quick,
        )  # fmt: skip

    def own_accuracy(self) -> float:
        """The machine epsilon that the function computes with on double precision inputs."""
        try:
            return dirs.unit_roundoff(self.rules.f(widened(self.xs)))
        except Exception as e:
            if self.beside:
                return dirs.unit_roundoff(self.ys)
            raise errors.CheckError(
                f"{self.rules.name} raised {type(e).__name__} on its arguments in double precision: {e}",
                mend="let it take float64 as well: the numeric side runs in double precision",
            ) from e

    @property
    def precision(self) -> float:
        """Relative accuracy to ask of a numeric estimate: less where the function computes in single precision."""
        return 1e-6 if self.accuracy < 1e-12 else 3e4 * self.accuracy

    def unchanged(self) -> None:
        """The rules give what they gave before they were used at other points."""
        with np.errstate(all="ignore"):
            runs: list[tuple[str, list[Any] | None, Callable[[], list[Any]]]] = [
                ("fwd", self.tys, lambda: self.pushed(self.xs, self.ts)),
                ("rev", self.gs, lambda: self.pulled(self.xs, self.cts)),
            ]
            for mode, before, run in runs:
                if before is not None and not same(run(), before):
                    message = "the rule gives another result after it has been used at other arguments"
                    self.fail(mode, "determinism", message)

    # forward mode

    def forward(self) -> None:
        push = self.rules.jvp
        assert push is not None
        xs, ts = self.xs, self.ts
        kept = snapshot(xs), snapshot(ts)
        ys, tys = push(list(xs), list(ts))
        tys = filled(tys, self.ys)
        if not (same(kept[0], xs) and same(kept[1], ts)):
            self.fail("fwd", "purity", "the rule changed its arguments in place")
            return
        self.primal("fwd", ys)
        if not self.structure("fwd", tys, self.ys, "tangent of output"):
            return
        self.tys = tys
        if self.thorough:
            check_linearity(self, "fwd", lambda vs: self.pushed(xs, vs), ts, tys)
            check_layout(self, "fwd", self.pushed, tys)
        active = [k for k, t in enumerate(ts) if t is not None and np.size(t)]
        if len(active) > 1:
            self.parts = {k: self.pushed(xs, dirs.only(ts, k)) for k in active}
        if self.value:
            self.compare_value(tys)

    def pushed(self, xs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
        assert self.rules.jvp is not None
        return filled(self.rules.jvp(list(xs), list(ts))[1], self.ys)

    def compare_value(self, tys: list[Any]) -> None:
        """Forward mode against the numeric derivative, entry by entry: along a random direction; where that leaves
        entries open, along one in which every input moves in proportion to itself; and along the inputs alone whose
        share of the derivative is too small to be seen beside the others."""
        judged = ~np.isfinite(pack(self.ys))  # there is nothing to compare where f itself is not finite
        at_kink = np.zeros_like(judged)
        for relative in (False, True):
            ts = self.ts
            if relative:
                ts = dirs.tangents(self.rng, self.xs, relative=True)
                tys = self.pushed(self.xs, ts)
            known, kink = self.compare_along(ts, tys, relative=relative)
            judged, at_kink = judged | known, at_kink | kink
            if self.failed or np.all(judged):
                break
        if self.failed:
            return
        if not np.all(judged):
            self.unsure("fwd", self.unjudged(judged, at_kink))
        if np.any(judged) or not judged.size:
            self.judged = True
            self.report.passed("fwd")
        size = np.max(np.abs(pack(tys)), initial=0)
        for k, part in self.parts.items():
            if not self.failed and np.max(np.abs(pack(part)), initial=0) <= LOPSIDED * size:
                self.compare_along(dirs.only(self.ts, k), part, relative=False)
        if self.full and not self.failed:
            for ts in dirs.basis(self.xs):
                self.compare_along(ts, self.pushed(self.xs, ts), relative=False, layer="jacobian")
                if self.failed:
                    return
        if self.thorough and not self.failed and not self.kinks_declared:
            digits.check(self, "fwd", lambda xs: pack(self.pushed(xs, self.ts)))

    def unjudged(self, judged: np.ndarray, at_kink: np.ndarray) -> str:
        why = f"{int(np.sum(~judged))} of {judged.size} entries cannot be judged numerically"
        kinks = np.flatnonzero(at_kink & ~judged)
        if not kinks.size:
            return why
        return f"{why}, {kinks.size} at a kink ({entry(int(kinks[0]), self.ys)}): the slopes to the two sides differ"

    def compare_along(
        self, ts: list[Any], tys: list[Any], *, relative: bool, layer: str = "value"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which entries of the tangent along `ts` are judged, and which are at a kink; the wrong ones are reported.

        What looks wrong beside a quick estimate is held against a thorough one, and then against the rule's noise.
        """
        got = pack(tys)
        for quick in (True, False):
            est = self.estimate(ts, quick=quick)
            wrong, ratio, known = self.judge(got, est, None)
            if not np.any(wrong) and (np.all(known) or self.beside):
                break
        if np.any(wrong):
            wrong, ratio, known = self.judge(got, est, self.noise_forward(ts, tys))
        if np.any(wrong):
            size = self.flat_size(got, est, ts)
            doubtful = (size > 0) & (np.abs(got) <= RESOLUTION * size) | ~self.linear_there(ts, est)
            wrong, known = wrong & ~doubtful, known & ~doubtful
        if np.any(wrong) and self.beside:
            lost = wrong
            wrong = wrong & self.judge(got, est, digits.wiggle(self, lambda xs: pack(self.pushed(xs, ts))))[0]
            digits.warn(self, "fwd", np.where(lost & ~wrong, np.abs(got - est.value), 0), np.abs(est.value), self.ys)
        if relative:  # a zero that does not move, times an infinite slope, is nan and no error
            wrong, known = wrong & np.isfinite(got), known & np.isfinite(got)
            known &= np.abs(est.value) > 3 * est.error  # nor does an entry that stays put prove anything
        if np.any(wrong):
            self.wrong_value(layer, ts, got, est, wrong)
        else:
            self.report.worst = max(self.report.worst, ratio)
        return known, est.kink

    def wrong_value(self, layer: str, ts: list[Any], got: np.ndarray, est: Estimate, wrong: np.ndarray) -> None:
        k = int(np.argmax(np.where(wrong, np.nan_to_num(np.abs(got - est.value), nan=np.inf) / (est.error + 1e-300), 0)))
        details = {
            "argument": self.blame(ts),
            "expected": f"{est.value[k]:.12g} with an error of at most {est.error[k]:.1g}",
            "got": f"{got[k]:.12g}",
            "where": f"{int(wrong.sum())} of {wrong.size} entries, most in {entry(k, self.ys)}",
            "guess": guess(got, est.value, wrong),
        }
        details |= diagnose(self, "fwd", ts, k)
        self.fail("fwd", layer, "the tangent differs from the numeric derivative", **details)

    def judge(self, got: np.ndarray, est: Estimate, noise: np.ndarray | None) -> tuple[np.ndarray, float, np.ndarray]:
        """Which entries are wrong; the worst ratio of difference to tolerance among the others; which are judged."""
        want = est.value
        judged = est.conclusive(got, self.precision)
        eps = dirs.unit_roundoff(self.xs, self.ys)
        scale = np.abs(want) + 0.01 * np.max(np.abs(want[judged]), initial=0)
        tolerance = ERRORS * est.error + ROUNDINGS * eps * scale + 1e-300
        tolerance = tolerance + max(np.finfo(dtype_of(y)).tiny for y in self.ys if is_inexact(dtype_of(y)))
        if eps > 1e-10:  # the rule works in single precision: its intermediate results are rounded to that,
            tolerance = tolerance + ROUNDINGS * eps * 0.03 * np.max(np.abs(want[judged]), initial=0)
            tolerance = tolerance + ROUNDINGS * eps * np.abs(pack(self.ys))  # as f itself is
        if noise is not None:
            tolerance = tolerance + ERRORS * noise
        if "atol" in self.overrides or "rtol" in self.overrides:
            tolerance = self.overrides.get("atol", 0.0) + self.overrides.get("rtol", 0.0) * np.abs(want)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.abs(got - want) / tolerance
        bad = judged & ~(ratio <= 1)
        return bad, float(np.max(ratio[judged & ~bad], initial=0)), judged

    def flat_size(self, got: np.ndarray, est: Estimate, ts: list[Any]) -> np.ndarray:
        """For entries where f did not change at all over the steps, the size that it has further away; else zero.

        They may be flat by rounding: a derivative far below that size cannot be seen in them.
        """
        flat = (est.value == 0) & (est.error == 0) & np.isfinite(got)
        size = np.zeros(est.value.shape)
        for step in FURTHER if np.any(flat & (got != 0)) else ():
            try:
                far = pack(self.rules.f([x if t is None else dirs.wide(x + step * t)[()]
                                         for x, t in zip(self.xs, ts, strict=True)]))  # fmt: skip
            except Exception:  # outside the domain
                continue
            if far.shape == size.shape:
                size = np.fmax(size, np.where(np.isfinite(far), np.abs(far), 0))
        return np.where(flat, size, 0)

    def linear_there(self, ts: list[Any], est: Estimate) -> np.ndarray:
        """Entries whose numeric derivative is additive in the direction: where it is not, as for a sort at ties, f has
        no derivative, though it has slopes along lines."""
        linear = np.ones(est.value.shape, bool)
        for _ in range(DIRECTIONS):
            us = [None if t is None else u for t, u in zip(ts, dirs.tangents(self.rng, self.xs), strict=True)]
            both = [None if t is None else t + u for t, u in zip(ts, us, strict=True)]
            one, two = self.estimate(us, quick=True), self.estimate(both, quick=True)
            size = np.abs(est.value) + np.abs(one.value) + np.abs(two.value)
            error = est.error + one.error + two.error
            with np.errstate(invalid="ignore"):
                linear &= ~(np.abs(two.value - one.value - est.value) > ERRORS * error + 1e-9 * size) & ~one.kink & ~two.kink
        return linear

    def noise_forward(self, ts: list[Any], tys: list[Any]) -> np.ndarray:
        """How much the tangent moves when point and direction move by one unit in the last place."""
        moved = [
            np.abs(pack(self.pushed(dirs.nudged(self.rng, self.xs), dirs.nudged(self.rng, ts))) - pack(tys))
            for _ in range(2)
        ]
        noise = np.maximum(*moved)
        finite = noise[np.isfinite(noise)]
        return np.nan_to_num(noise) + (0.1 * float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0)

    def blame(self, directions: list[Any]) -> str:
        """The inputs whose part of the derivative is wrong."""
        blamed = []
        for k, t in enumerate(directions):
            if t is not None and np.any(t):
                ts = dirs.only(directions, k)
                if np.any(self.judge(pack(self.pushed(self.xs, ts)), self.estimate(ts), None)[0]):
                    blamed.append(self.rules.label(k))
        return ", ".join(blamed)

    # reverse mode

    def reverse(self) -> None:
        rule = self.rules.vjp
        assert rule is not None
        xs, cts = self.xs, self.cts
        kept = snapshot(xs), snapshot(cts)
        ys, pull = rule(list(xs))
        gs = filled(pull(list(cts)), xs)
        if not (same(kept[0], xs) and same(kept[1], cts)):
            self.fail("rev", "purity", "the rule changed its arguments or the cotangent in place")
            return
        self.primal("rev", ys)
        if not self.structure("rev", gs, xs, "cotangent of"):
            return
        self.gs = gs
        if self.thorough:
            check_linearity(self, "rev", lambda vs: filled(pull(vs), xs), cts, gs)
            self.pulled_again(pull, gs)
            check_layout(self, "rev", self.pulled, gs)
        if self.tys is not None:
            self.adjoint(gs, self.tys)
        elif self.value:
            self.reverse_value(gs)
            if self.thorough and not self.failed and not self.kinks_declared:
                digits.check(self, "rev", lambda points: pack(self.pulled(points, self.cts)))
        if self.full and not self.failed and self.value:
            self.reverse_jacobian()

    def pulled(self, xs: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        assert self.rules.vjp is not None
        return filled(self.rules.vjp(list(xs))[1](list(cts)), self.xs)

    def pulled_again(self, pull: Callable[[list[Any]], list[Any]], gs: list[Any]) -> None:
        """A second run of the rule agrees with the first, and the first pullback stays right after one elsewhere."""
        if not same(self.pulled(self.xs, self.cts), gs):
            self.fail("rev", "determinism", "two runs of the rule on the same values give different results")
            return
        elsewhere = [x if t is None else np.asarray(x + 1e-3 * t, dtype_of(x))[()]
                     for x, t in zip(self.xs, self.ts, strict=True)]  # fmt: skip
        try:
            self.pulled(elsewhere, self.cts)
        except Exception:  # the function need not be defined there
            return
        if not same(filled(pull(list(self.cts)), self.xs), gs):
            message = "a pullback gives another result after the rule has run at other arguments"
            self.fail("rev", "determinism", message)

    def adjoint(self, gs: list[Any], tys: list[Any]) -> None:
        """<ct, J t> = <J^T ct, t>, to rounding, for all inputs together and for each alone: no finite differences."""
        for k, part in (self.parts or {-1: tys}).items():
            ts = self.ts if k < 0 else dirs.only(self.ts, k)
            if self.failed:
                return
            self.adjoint_along(gs, part, ts, "" if k < 0 else self.rules.label(k))

    def adjoint_along(self, gs: list[Any], tys: list[Any], ts: list[Any], label: str) -> None:
        forward, scale_f = dirs.pairing(self.cts, tys)
        backward, scale_b = dirs.pairing(gs, ts)
        if not (np.isfinite(forward) and np.isfinite(backward)):
            if np.isfinite(forward) != np.isfinite(backward) and self.value:
                self.fail("rev", "adjoint", "one mode is finite, the other is not", argument=label,
                          expected=f"{forward!r} (forward)", got=f"{backward!r} (reverse)")  # fmt: skip
            else:
                self.unsure("rev", "the derivative is not finite")
            return
        size = sum(np.size(t) for t in (*ts, *self.cts) if t is not None)
        tolerance = (16 + size**0.5) * dirs.unit_roundoff(self.xs, self.ys) * (scale_f + scale_b) + 1e-300
        difference = abs(forward - backward)
        if difference > tolerance:
            tolerance += ERRORS * self.noise_adjoint(ts, forward, backward)
        if difference > tolerance and self.beside:
            noise = digits.wiggle(self, lambda xs: np.array([
                dirs.pairing(self.cts, self.pushed(xs, ts))[0], dirs.pairing(self.pulled(xs, self.cts), ts)[0]
            ]))  # fmt: skip
            tolerance += ERRORS * float(np.sum(noise))
            if difference <= tolerance:
                digits.warn(self, "rev", np.array([difference]), np.array([scale_f + scale_b]), None)
        if difference <= tolerance:
            self.report.passed("rev", difference / tolerance)
            self.judged = True
            return
        self.fail(
            "rev", "adjoint", "reverse mode is not the transpose of forward mode: <ct, J t> and <J^T ct, t> differ",
            argument=label or self.blamed_argument(),
            expected=f"{forward:.15g} (forward), to {tolerance:.1g}",
            got=f"{backward:.15g} (reverse)",
            **diagnose(self, "rev", ts, None),
        )  # fmt: skip

    def blamed_argument(self) -> str:
        active = [k for k, t in enumerate(self.ts) if t is not None]
        return self.rules.label(active[0]) if len(active) == 1 else ""

    def noise_adjoint(self, ts: list[Any], forward: float, backward: float) -> float:
        """How much the two pairings move by rounding: with inputs moved by some units in the last place."""
        moved = []
        for _ in OTHER_FACTORS:
            xs = dirs.nudged(self.rng, self.xs)
            one = abs(dirs.pairing(self.cts, self.pushed(xs, ts))[0] - forward)
            moved.append(one + abs(dirs.pairing(self.pulled(xs, self.cts), ts)[0] - backward))
        return float(np.median(moved))

    def reverse_value(self, gs: list[Any]) -> None:
        """Reverse mode against the numeric derivative, through the pairing with the cotangent, an input at a time."""
        for k, t in enumerate(self.ts):
            if t is not None and np.size(t) and not self.pairing_agrees(gs, k, dirs.only(self.ts, k)):
                relative = dirs.only(dirs.tangents(self.rng, self.xs, relative=True), k)
                if self.failed:
                    return
                if not np.any(relative[k]) or not self.pairing_agrees(gs, k, relative):
                    self.unsure("rev", f"{self.rules.label(k)}: the numeric derivative is not known well enough")

    def pairing_agrees(self, gs: list[Any], k: int, ts: list[Any]) -> bool:
        """Compare <J^T ct, t> with <ct, numeric derivative along t>; whether all of it can be judged.

        Only the outputs that are known are paired. What looks wrong beside a quick estimate is held against a thorough
        one, and then against the rule's noise.
        """
        cts = self.cts
        for quick in (True, False):
            est = self.estimate(ts, quick=quick)
            known = est.conclusive(est.value, self.precision)
            if not np.all(known):
                if quick and not self.beside:
                    continue
                if not np.any(known):
                    return False
                cts = self.masked_cotangents(known)
                gs = self.pulled(self.xs, cts)
                if not np.all(np.isfinite(gs[k])):  # zero cotangents times infinite slopes
                    ts = [None if t is None else np.where(np.isfinite(gs[k]), t, np.zeros_like(t))[()] for t in ts]
                    est = self.estimate(ts)
                est = est.only(known & est.conclusive(est.value, self.precision))
            got, want, tolerance = self.pairing(gs, cts, k, ts, est)
            if abs(got - want) <= tolerance:
                self.report.passed("rev", abs(got - want) / tolerance)
                self.judged = True
                return bool(np.all(known))
        if np.isfinite(got):
            tolerance += ERRORS * self.noise_reverse(cts, k, ts, got)
        if abs(got - want) <= tolerance:
            self.report.passed("rev", abs(got - want) / tolerance)
            return bool(np.all(known))
        size = np.sum(np.abs(pack(cts)) * self.flat_size(np.full(est.value.shape, got), est, ts))
        if 0 < abs(got) <= RESOLUTION * size or not np.all(self.linear_there(ts, est)):
            return False
        if self.beside and np.isfinite(got):
            run = lambda xs: np.array([dirs.pairing([self.pulled(xs, cts)[k]], [ts[k]])[0]])
            if abs(got - want) <= tolerance + ERRORS * float(digits.wiggle(self, run)[0]):
                digits.warn(self, "rev", np.array([abs(got - want)]), np.array([abs(want)]), None)
                return bool(np.all(known))
        details = {"guess": guess(np.array([got]), np.array([want]), np.array([True]))}
        self.fail(
            "rev", "value", "<J^T ct, t> differs from <ct, numeric derivative along t>",
            argument=self.rules.label(k),
            expected=f"{want:.12g} with an error of at most {tolerance / ERRORS:.1g}",
            got=f"{got:.12g}",
            **(details | diagnose(self, "rev", ts, None)),
        )  # fmt: skip
        return True

    def masked_cotangents(self, known: np.ndarray) -> list[Any]:
        masks = dirs.unpacked(known, self.ys)
        return [None if c is None else np.where(m, c, np.zeros_like(c))[()]
                for c, m in zip(self.cts, masks, strict=True)]  # fmt: skip

    def pairing(
        self, gs: list[Any], cts: list[Any], k: int, ts: list[Any], est: Estimate
    ) -> tuple[float, float, float]:
        """<J^T ct, t> of the rule, <ct, J t> of the estimate, and the tolerance between them."""
        terms = pack(cts) * est.value
        want, scale = float(np.sum(terms).real), float(np.sum(np.abs(terms)))
        got, own = dirs.pairing([np.where(ts[k] == 0, 0, gs[k])], [ts[k]])  # what does not move proves nothing
        error = float(np.sum(np.abs(pack(cts)) * est.error))
        tolerance = ERRORS * error + ROUNDINGS * dirs.unit_roundoff(self.xs, self.ys) * (scale + own) + 1e-300
        if "atol" in self.overrides or "rtol" in self.overrides:
            tolerance = self.overrides.get("atol", 0.0) + self.overrides.get("rtol", 0.0) * abs(want)
        return got, want, tolerance

    def noise_reverse(self, cts: list[Any], k: int, ts: list[Any], got: float) -> float:
        moved = [abs(dirs.pairing([self.pulled(dirs.nudged(self.rng, self.xs), cts)[k]], [ts[k]])[0] - got)
                 for _ in OTHER_FACTORS]  # fmt: skip
        return float(np.median(moved))

    def reverse_jacobian(self) -> None:
        """Every row of the Jacobian in reverse mode against the numeric columns."""
        basis = list(dirs.basis(self.xs))
        estimates = [self.estimate(ts, quick=True) for ts in basis]
        for cts in dirs.basis(self.ys):
            gs = self.pulled(self.xs, cts)
            row = pack(cts)
            got = np.array([dirs.pairing(gs, ts)[0] for ts in basis])
            want = np.array([np.sum(row * e.value).real for e in estimates])
            error = np.array([np.sum(np.abs(row) * e.error) for e in estimates])
            known = np.array([bool(np.all(e.conclusive(e.value, self.precision)[row != 0])) for e in estimates])
            eps = dirs.unit_roundoff(self.xs, self.ys)
            size = np.abs(want) + 0.01 * np.max(np.abs(want[known]), initial=0)
            wrong = known & ~(np.abs(got - want) <= 2 * ERRORS * error + 4 * ROUNDINGS * eps * size + 1e-300)
            if np.any(wrong):
                j = int(np.argmax(wrong))
                self.fail("rev", "jacobian", "the cotangent differs from the row of the numeric Jacobian",
                          expected=f"{want[j]:.12g} with an error of at most {error[j]:.1g}", got=f"{got[j]:.12g}",
                          where=f"{int(wrong.sum())} of {wrong.size} entries of the row of {self.row_name(cts)}",
                          guess=guess(got, want, wrong))  # fmt: skip
                return
            self.report.passed("rev")

    def row_name(self, cts: list[Any]) -> str:
        return entry(int(np.argmax(pack(cts) != 0)), self.ys)

    # what both modes share

    def primal(self, mode: str, ys: list[Any]) -> None:
        """A transform's primal output is f's own: same shape, dtype and, to rounding, values."""
        if len(ys) != len(self.ys):
            self.fail(mode, "structure", f"{len(ys)} outputs, the function has {len(self.ys)}")
            return
        for k, (y, want) in enumerate(zip(ys, self.ys, strict=True)):
            if shape_of(y) != shape_of(want) or dtype_of(y) != dtype_of(want):
                self.fail(mode, "structure", f"the primal output {k} is not of the function's own kind",
                          expected=kind(want), got=kind(y))  # fmt: skip
            elif not close(y, want):
                self.fail(
                    mode, "primal", f"output {k} is not the function's own value", expected=brief(want), got=brief(y)
                )

    def structure(self, mode: str, got: list[Any], like: Sequence[Any], what: str) -> bool:
        ok = True
        if len(got) != len(like):
            self.fail(mode, "structure", f"the rule returned {len(got)} values for {len(like)}")
            return False
        for k, (g, x) in enumerate(zip(got, like, strict=True)):
            if g is not None and (shape_of(g) != shape_of(x) or dtype_of(g) != dtype_of(x)):
                label = f"{what} {k}" if mode == "fwd" else f"{what} {self.rules.label(k)}"
                self.fail(mode, "structure", f"{label} has the wrong shape or dtype", expected=kind(x), got=kind(g))
                ok = False
        return ok


def check_orders(point: Point, order: int, *, ran: bool = False) -> None:
    """Run a point and, with the maps (x, t) -> jvp and (x, ct) -> vjp, every mix of modes up to `order`."""
    if not ran:
        point.run()
    if order <= 1 or point.report.failures:
        return
    xs, ys = point.xs, point.ys
    if not any(is_inexact(dtype_of(x)) for x in xs) or not any(is_inexact(dtype_of(y)) for y in ys):
        return
    active = [x for x in xs if is_inexact(dtype_of(x))]
    for mode, word, build in (("fwd", "jvp", forward_map), ("rev", "vjp", reverse_map)):
        if mode not in point.modes or (point.rules.jvp if mode == "fwd" else point.rules.vjp) is None:
            continue
        rules, _ = build(point.rules, xs, ys)
        seeds = point.ts if mode == "fwd" else point.cts
        inner = Point(
            rules, [*active, *(s for s in seeds if s is not None)], point.rng, point.report, modes=point.inner_modes,
            sample=point.sample, seed=point.seed, again=point.again, order=point.order + 1,
            path=f"of {word} {point.path}".strip(), value=point.value, thorough=False, full=point.full,
            overrides=point.overrides, accuracy=point.accuracy,
        )  # fmt: skip
        check_orders(inner, order - 1)
