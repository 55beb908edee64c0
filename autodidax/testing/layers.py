"""The layers of a check at one point: structure, purity, determinism, homogeneity, additivity, adjoint, value.

Each compares rules with each other, exactly or to rounding, but for the last, which compares them with a numeric
derivative and its error estimate. Tolerances are derived: from the machine epsilon of the dtypes at hand, the natural
scale of what is summed, the estimated error of the numeric side, and, where that is not enough, the rule's own
rounding noise, measured by moving its inputs by one unit in the last place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs
from autodidax.testing.numeric import Estimate, directional_derivative, pack, widened
from autodidax.testing.report import Failure, Report, StopCheck, brief
from autodidax.testing.rules import Rules, forward_map, reverse_map

ERRORS = 8.0  # tolerance in estimated errors
ROUNDINGS = 32.0  # and in units of rounding
OTHER_FACTORS = (1.1, 0.7, 1.3, 0.9, 1.7)  # scalings that round otherwise than the seed itself


class Point:
    """A check of one function's rules at one point, which reports under one sample's name."""

    def __init__(
        self,
        rules: Rules,
        xs: Sequence[Any],
        rng: np.random.Generator,
        report: Report,
        *,
        modes: Sequence[str] = ("fwd", "rev"),
        sample: str = "",
        order: int = 1,
        path: str = "",
        value: bool = True,
        thorough: bool = True,
        overrides: dict[str, float] | None = None,
        accuracy: float = 0.0,
        kinks_declared: bool = False,
    ):
        self.rules = rules
        self.xs = list(xs)
        self.rng = rng
        self.report = report
        self.modes = modes
        self.sample = sample
        self.order = order
        self.path = path
        self.value = value
        self.thorough = thorough
        self.overrides = overrides or {}
        self.kinks_declared = kinks_declared  # inconclusive entries are expected, and not listed
        self.accuracy = accuracy  # of the function that this one was derived from

    # reporting

    def fail(self, mode: str, layer: str, message: str, **details: Any) -> None:
        self.report.fail(
            Failure(
                self.rules.name,
                self.rules.rule(mode),
                mode,
                layer,
                message,
                path=self.path,
                order=self.order,
                sample=self.sample,
                module=self.report.module,
                **details,
            )
        )

    def unsure(self, mode: str, why: str) -> None:
        if self.kinks_declared:
            return
        where = f" ({self.path})" if self.path else ""
        self.report.inconclusive.append(f"{mode}{where}: {self.sample or 'the point'}: {why}")

    # the whole

    def run(self) -> None:
        xs = self.xs
        with np.errstate(all="ignore"):
            kept = snapshot(xs)
            self.ys = [np.asarray(y)[()] for y in self.rules.f(list(xs))]
            if not same(kept, xs):
                self.fail("impl", "purity", "the function changed its arguments in place")
            if not any(is_inexact(dtype_of(x)) for x in xs) or not any(is_inexact(dtype_of(y)) for y in self.ys):
                return
            self.accuracy = max(self.accuracy, self.own_accuracy())
            self.ts = dirs.tangents(self.rng, xs)
            self.cts = dirs.cotangents(self.rng, self.ys)
            self.tys: list[Any] | None = None
            for mode, check in (("fwd", self.forward), ("rev", self.reverse)):
                rule = self.rules.jvp if mode == "fwd" else self.rules.vjp
                if mode in self.modes and rule is not None:
                    try:
                        check()
                    except StopCheck:
                        raise
                    except Exception as e:  # a rule that raises is wrong, whatever it raises
                        self.fail(mode, "runs", f"the rule raised {type(e).__name__}: {e}")

    def estimate(self, ts: list[Any]) -> Estimate:
        return directional_derivative(
            self.rules.f, self.xs, ts, precision=self.precision, eps=self.accuracy, step=self.overrides.get("eps")
        )

    def own_accuracy(self) -> float:
        """The machine epsilon that the function computes with on double precision inputs."""
        return dirs.unit_roundoff(self.rules.f(widened(self.xs)))

    @property
    def precision(self) -> float:
        """Relative accuracy to ask of a numeric estimate: less where the function computes in single precision."""
        return 1e-6 if self.accuracy < 1e-12 else 3e4 * self.accuracy

    # forward mode

    def forward(self) -> None:
        push = self.rules.jvp
        assert push is not None
        xs, ts = self.xs, self.ts
        kept = snapshot(xs), snapshot(ts)
        ys, tys = push(list(xs), list(ts))
        tys = filled(tys, self.ys)
        self.tys = tys
        if not (same(kept[0], xs) and same(kept[1], ts)):
            self.fail("fwd", "purity", "the rule changed its arguments in place")
        self.primal("fwd", ys)
        if not self.structure("fwd", tys, self.ys, "tangent of output"):
            return
        if self.thorough:
            self.linearity("fwd", lambda vs: filled(push(list(xs), vs)[1], self.ys), ts, tys)
        if self.value:
            self.compare_value(tys)

    def compare_value(self, tys: list[Any]) -> None:
        """Forward mode against the numeric derivative, entry by entry; where a direction leaves entries open, those
        against a second direction in which every input moves in proportion to itself."""
        push = self.rules.jvp
        assert push is not None
        judged = at_kink = np.zeros(pack(tys).size, bool)
        worst = 0.0
        for relative in (False, True):
            ts = self.ts
            if relative:
                ts = dirs.tangents(self.rng, self.xs, relative=True)
                tys = filled(push(list(self.xs), list(ts))[1], self.ys)
            got = pack(tys)
            est = self.estimate(ts)
            wrong, ratio, known = self.judge(got, est, None)
            if np.any(wrong):
                wrong, ratio, known = self.judge(got, est, self.noise_forward(ts, tys))
            if relative:  # a zero that does not move, times an infinite slope, is nan and no error
                wrong, known = wrong & np.isfinite(got), known & np.isfinite(got)
                known &= np.abs(est.value) > 3 * est.error  # nor does an entry that stays put prove anything
            if np.any(wrong):
                self.wrong_value(ts, got, est, wrong)
                return
            judged, at_kink, worst = judged | known, at_kink | est.kink, max(worst, ratio)
            if np.all(judged):
                break
        if not np.all(judged):
            kinks = int(np.sum(at_kink & ~judged))
            why = f"{int(np.sum(~judged))} of {judged.size} entries cannot be judged numerically"
            self.unsure("fwd", why + (f", {kinks} at a kink" if kinks else ""))
        if np.any(judged) or not judged.size:
            self.report.passed("fwd", worst)

    def wrong_value(self, ts: list[Any], got: np.ndarray, est: Estimate, wrong: np.ndarray) -> None:
        k = int(np.argmax(np.where(wrong, np.abs(got - est.value) / (est.error + 1e-300), 0)))
        self.fail(
            "fwd", "value",
            f"the tangent differs from the numeric derivative in {int(wrong.sum())} of {wrong.size} entries,"
            f" first in entry {int(np.argmax(wrong))}, most in entry {k}",
            argument=self.blame(ts),
            expected=f"{est.value[k]:.12g} with an error of at most {est.error[k]:.1g}",
            got=f"{got[k]:.12g}" + guess(got, est.value, wrong),
        )  # fmt: skip

    def judge(self, got: np.ndarray, est: Estimate, noise: np.ndarray | None) -> tuple[np.ndarray, float, np.ndarray]:
        """Which entries are wrong; the worst ratio of difference to tolerance among the others; which are judged."""
        want = est.value
        judged = est.conclusive(got, self.precision)
        eps = dirs.unit_roundoff(self.xs, self.ys)
        scale = np.abs(want) + 0.01 * np.max(np.abs(want[judged]), initial=0)
        tolerance = ERRORS * est.error + ROUNDINGS * eps * scale + 1e-300
        if eps > 1e-10:  # the rule works in single precision: its intermediate results are rounded to that
            tolerance = tolerance + ROUNDINGS * eps * 0.03 * np.max(np.abs(want[judged]), initial=0)
        if noise is not None:
            tolerance = tolerance + ERRORS * noise
        if "atol" in self.overrides or "rtol" in self.overrides:
            tolerance = self.overrides.get("atol", 0.0) + self.overrides.get("rtol", 0.0) * np.abs(want)
        with np.errstate(invalid="ignore"):
            ratio = np.abs(got - want) / tolerance
        bad = judged & ~(ratio <= 1)
        return bad, float(np.max(ratio[judged & ~bad], initial=0)), judged

    def noise_forward(self, ts: list[Any], tys: list[Any]) -> np.ndarray:
        """How much the tangent moves when point and direction move by one unit in the last place."""
        push = self.rules.jvp
        assert push is not None
        moved = []
        for _ in range(2):
            _, t = push(dirs.nudged(self.rng, self.xs), dirs.nudged(self.rng, ts))
            moved.append(np.abs(pack(filled(t, self.ys)) - pack(tys)))
        noise = np.maximum(*moved)
        finite = noise[np.isfinite(noise)]
        return noise + (0.1 * float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0)

    def blame(self, directions: list[Any]) -> str:
        """The inputs whose part of the derivative is wrong."""
        push = self.rules.jvp
        assert push is not None
        blamed = []
        for k, t in enumerate(directions):
            if t is not None:
                ts = dirs.only(directions, k)
                got = pack(filled(push(list(self.xs), ts)[1], self.ys))
                if np.any(self.judge(got, self.estimate(ts), None)[0]):
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
            self.cts = [None if c is None else np.array(c)[()] for c in kept[1]]
            cts = self.cts
        self.primal("rev", ys)
        if not self.structure("rev", gs, xs, "cotangent of"):
            return
        if self.thorough:
            self.linearity("rev", lambda vs: filled(pull(vs), xs), cts, gs)
            again = filled(rule(list(xs))[1](list(cts)), xs)
            if not same(again, gs):
                self.fail("rev", "determinism", "two runs of the rule on the same values give different results")
        if self.tys is not None:
            self.adjoint(gs, self.tys)
        elif self.value:
            self.reverse_value(gs)

    def adjoint(self, gs: list[Any], tys: list[Any]) -> None:
        """<ct, J t> = <J^T ct, t>, to rounding: no finite differences are needed."""
        forward, scale_f = dirs.pairing(self.cts, tys)
        backward, scale_b = dirs.pairing(gs, self.ts)
        if not (np.isfinite(forward) and np.isfinite(backward)):
            if np.isfinite(forward) != np.isfinite(backward) and self.value:
                self.fail("rev", "adjoint", "one mode is finite, the other is not", expected=f"{forward!r} (forward)",
                          got=f"{backward!r} (reverse)")  # fmt: skip
            else:
                self.unsure("rev", "the derivative is not finite")
            return
        size = sum(np.size(t) for t in (*self.ts, *self.cts) if t is not None)
        tolerance = (16 + size**0.5) * dirs.unit_roundoff(self.xs, self.ys) * (scale_f + scale_b) + 1e-300
        difference = abs(forward - backward)
        if difference > tolerance:
            tolerance += ERRORS * self.noise_adjoint(forward, backward)
        if difference <= tolerance:
            self.report.passed("rev", difference / tolerance)
            return
        self.fail(
            "rev", "adjoint", "reverse mode is not the transpose of forward mode: <ct, J t> and <J^T ct, t> differ",
            argument=self.blame_adjoint(),
            expected=f"{forward:.15g} (forward), to {tolerance:.1g}",
            got=f"{backward:.15g} (reverse)",
        )  # fmt: skip

    def noise_adjoint(self, forward: float, backward: float) -> float:
        """How much the two pairings move by rounding: with inputs moved by some units in the last place, and with
        seeds scaled by factors that are no powers of two."""
        push, rule = self.rules.jvp, self.rules.vjp
        assert push is not None and rule is not None
        moved = []
        for factor in OTHER_FACTORS:
            xs = dirs.nudged(self.rng, self.xs)
            tys = filled(push(xs, dirs.scaled(self.ts, factor))[1], self.ys)
            gs = filled(rule(xs)[1](dirs.scaled(self.cts, factor)), self.xs)
            one = abs(dirs.pairing(self.cts, tys)[0] / factor - forward)
            moved.append(one + abs(dirs.pairing(gs, self.ts)[0] / factor - backward))
        return float(np.median(moved))

    def blame_adjoint(self) -> str:
        push, rule = self.rules.jvp, self.rules.vjp
        assert push is not None and rule is not None
        gs = filled(rule(list(self.xs))[1](list(self.cts)), self.xs)
        blamed = []
        for k, t in enumerate(self.ts):
            if t is not None:
                tys = filled(push(list(self.xs), dirs.only(self.ts, k))[1], self.ys)
                forward, scale = dirs.pairing(self.cts, tys)
                backward, other = dirs.pairing([gs[k]], [t])
                if not abs(forward - backward) <= 1e3 * dirs.unit_roundoff(self.xs, self.ys) * (scale + other) + 1e-300:
                    blamed.append(self.rules.label(k))
        return ", ".join(blamed)

    def reverse_value(self, gs: list[Any]) -> None:
        """Reverse mode against the numeric derivative, through the pairing with the cotangent, an input at a time."""
        for k, t in enumerate(self.ts):
            if t is not None and np.size(t) and not self.pairing_agrees(gs, k, dirs.only(self.ts, k)):
                relative = dirs.tangents(self.rng, self.xs, relative=True)
                if not self.pairing_agrees(gs, k, dirs.only(relative, k)):
                    self.unsure("rev", f"{self.rules.label(k)}: the numeric derivative is not known well enough")

    def pairing_agrees(self, gs: list[Any], k: int, ts: list[Any]) -> bool:
        """Compare <J^T ct, t> with <ct, numeric derivative along t>; False where the latter is not conclusive."""
        est = self.estimate(ts)
        if not np.all(est.conclusive(est.value, self.precision)):
            return False
        cts = pack(self.cts)
        terms = cts * est.value
        want, scale = float(np.sum(terms).real), float(np.sum(np.abs(terms)))
        got, own = dirs.pairing([gs[k]], [ts[k]])
        error = float(np.sum(np.abs(cts) * est.error))
        tolerance = ERRORS * error + ROUNDINGS * dirs.unit_roundoff(self.xs, self.ys) * (scale + own) + 1e-300
        if "atol" in self.overrides or "rtol" in self.overrides:
            tolerance = self.overrides.get("atol", 0.0) + self.overrides.get("rtol", 0.0) * abs(want)
        if abs(got - want) <= tolerance:
            self.report.passed("rev", abs(got - want) / tolerance)
        else:
            self.fail(
                "rev", "value", "<J^T ct, t> differs from <ct, numeric derivative along t>",
                argument=self.rules.label(k),
                expected=f"{want:.12g} with an error of at most {error:.1g}",
                got=f"{got:.12g}" + guess(np.array([got]), np.array([want]), np.array([True])),
            )  # fmt: skip
        return True

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

    def linearity(self, mode: str, apply: Any, vs: list[Any], out: list[Any]) -> None:
        """Homogeneity (to rounding, for powers of two), additivity one part at a time, purity and determinism."""
        kept = snapshot(out)
        self.homogeneity(mode, apply, vs, out)
        self.additivity(mode, apply, vs, out)
        if not same(kept, out):
            self.fail(mode, "purity", "a later call changed the result of an earlier one")
        if not all(same(apply(list(vs)), kept) for _ in range(2)):
            self.fail(mode, "determinism", "two calls with the same values give different results")
        self.report.passed(mode)

    def homogeneity(self, mode: str, apply: Any, vs: list[Any], out: list[Any]) -> None:
        for factor in (-1.0, 2.0**20, 2.0**-20):
            got = apply(dirs.scaled(vs, factor))
            for k, (g, w) in enumerate(zip(got, dirs.scaled(out, factor), strict=True)):
                if w is None or close(g, w, 4.0, elementwise=True) or close(g, w, 8 * ROUNDINGS):
                    continue
                if not close(
                    g,
                    w,
                    8 * ROUNDINGS,
                    slack=abs(factor) * ERRORS * self.noise_linear(apply, vs, out, k, scaling=False),
                ):
                    message = f"scaling the {seed_name(mode)} by {factor:g} does not scale the result {k}"
                    self.fail(mode, "homogeneity", message, expected=brief(w), got=brief(g))
                    return

    def additivity(self, mode: str, apply: Any, vs: list[Any], out: list[Any]) -> None:
        """One part at a time, the others zero and then absent, adds up to all of them."""
        active = [k for k, v in enumerate(vs) if v is not None]
        for zeros in (True, False) if len(active) > 1 else ():
            parts = [apply(dirs.only(vs, k, zeros=zeros)) for k in active]
            for k, w in enumerate(out):
                own = [p[k] for p in parts]
                if w is None or additive(own, w):
                    continue
                if not additive(own, w, slack=ERRORS * self.noise_linear(apply, vs, out, k, scaling=True)):
                    message = f"one {seed_name(mode)} at a time does not add up to all, in result {k}"
                    self.fail(mode, "additivity", message, expected=brief(w), got=brief(sum(own)))
                    return

    def noise_linear(self, apply: Any, vs: list[Any], out: list[Any], k: int, *, scaling: bool) -> float:
        """How much a result moves by rounding: when the vector moves by some units in the last place and, where that
        is not what is being tested, when it is scaled by factors that are no powers of two."""
        moved = []
        for factor in OTHER_FACTORS:
            c = factor if scaling else 1.0
            result = dirs.wide(apply(dirs.nudged(self.rng, dirs.scaled(vs, c)))[k]) / c
            moved.append(np.max(np.abs(result - dirs.wide(out[k])), initial=0))
        return float(np.median(moved))


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
            rules, [*active, *(s for s in seeds if s is not None)], point.rng, point.report, modes=point.modes,
            sample=point.sample, order=point.order + 1, path=f"of {word} {point.path}".strip(), value=point.value,
            thorough=False, overrides=point.overrides, accuracy=point.accuracy,
        )  # fmt: skip
        check_orders(inner, order - 1)


def seed_name(mode: str) -> str:
    return "tangent" if mode == "fwd" else "cotangent"


def kind(x: Any) -> str:
    return f"{dtype_of(x)}{list(shape_of(x))}"


def snapshot(xs: Sequence[Any]) -> list[Any]:
    return [x.copy() if type(x) is np.ndarray else x for x in xs]


def same(xs: Sequence[Any], ys: Sequence[Any]) -> bool:
    """Equal bit for bit, but for the payload of nan and the sign of zero."""
    return all(
        (x is None) == (y is None) and (x is None or np.array_equal(x, y, equal_nan=is_inexact(dtype_of(x))))
        for x, y in zip(xs, ys, strict=True)
    )


def filled(ts: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    """Zeros in the place of None for inexact values; None for the others."""
    out: list[Any] = [
        None
        if not is_inexact(dtype_of(x))
        else np.zeros(shape_of(x), dtype_of(x))[()]
        if t is None
        else np.asarray(t)[()]
        for t, x in zip(ts, like, strict=False)
    ]
    return out + [t for t in ts[len(like) :] if t is not None]


def close(got: Any, want: Any, roundings: float = ROUNDINGS, *, elementwise: bool = False, slack: float = 0.0) -> bool:
    """Equal to so many roundings of the largest entry (or of each entry), beside some slack; infinities and nans in
    the same places."""
    got, want = np.asarray(got), np.asarray(want)
    eps = dirs.unit_roundoff([got, want])
    if got.shape != want.shape:
        return False
    if not is_inexact(want.dtype):
        return bool(np.array_equal(got, want))
    finite = np.isfinite(want)
    if not np.array_equal(np.where(finite, 0, got), np.where(finite, 0, want), equal_nan=True):
        return False
    got, want = dirs.wide(got[finite]), dirs.wide(want[finite])
    size = np.abs(want) if elementwise else np.max(np.abs(want), initial=0)
    return bool(np.all(np.abs(got - want) <= roundings * eps * size + slack + 1e-300))


def additive(parts: list[Any], whole: Any, slack: float = 0.0) -> bool:
    """Whether the parts add up to the whole, to rounding of the largest of them."""
    total = sum(dirs.wide(p) for p in parts)
    finite = np.isfinite(total) & np.isfinite(whole)
    size = sum(np.abs(dirs.wide(p)) for p in parts)
    bound = ROUNDINGS * dirs.unit_roundoff([whole]) * (size + 0.1 * np.max(np.where(finite, size, 0), initial=0))
    bound = bound + slack + 1e-300
    return bool(np.all((np.abs(total - dirs.wide(whole)) <= bound)[finite]))


def guess(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> str:
    """The kind of error, where it can be told from the wrong entries."""
    g, w = got[wrong], want[wrong]
    with np.errstate(all="ignore"):
        off = float(np.max(np.abs(g - w) / np.abs(w)))
        if off < 1e-4:
            return f" (a relative error of {off:.1g})"
        if np.all(g == 0):
            return " (zero)"
        if np.allclose(g, -w, rtol=1e-6):
            return " (the sign is flipped)"
        if np.iscomplexobj(g) and np.allclose(g, np.conj(w), rtol=1e-6):
            return " (the conjugate)"
        factor = g / w
        if np.allclose(factor, factor.flat[0], rtol=1e-6) and np.isfinite(factor.flat[0]):
            return f" ({np.real_if_close(factor.flat[0]):.10g} times what it should be)"
    return ""
