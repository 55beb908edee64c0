"""The check of a user's functions over declared samples: derivatives, and custom rules under vmap and jit."""

from __future__ import annotations

import inspect
import os
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Sample
from autodidax.testing import directions as dirs
from autodidax.testing.commandline.modules import DECLARATION, Subject, draw
from autodidax.testing.commandline.options import CheckOptions
from autodidax.testing.comparison import close
from autodidax.testing.functions import check_grads
from autodidax.testing.report import Failure, Report, StopCheck, brief, raised_at
from autodidax.testing.rules import flat_function
from autodidax.transforms.boundary import parameter_names
from autodidax.transforms.custom_rules import custom_jvp, custom_vjp
from autodidax.transforms.derivatives import jvp, vjp
from autodidax.transforms.jit import jit
from autodidax.transforms.vmap import vmap

ROUNDINGS = 256.0  # a program or a batch may sum in another order than the eager run of one row
ROWS = 3
SAMPLES = "samples"  # the layer of a failure that says what is wrong with them, and not with a rule

Flat = Callable[..., list[Any]]


def check_function(subject: Subject, options: CheckOptions) -> Report:
    """Check a function of a user's module at each of its declared samples; the report lists what is wrong.

    Its derivatives in every mix of modes (order 2 and more at the first smooth sample; at all where `slow`). Of a
    function with a custom rule also the calls, jvp and vjp under vmap against the loop, and under jit against the eager
    run, since it is used so.
    """
    start = time.perf_counter()
    report = Report(subject.name, module=subject.module, fail_fast=options.fail_fast, strict=options.strict)
    report.missing = missing_of(subject)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for seed in options.seeds if not report.missing else ():
                _check_seed(subject, report, options, seed)
    except StopCheck:
        pass
    report.seconds = time.perf_counter() - start
    return report


def missing_of(subject: Subject) -> list[str]:
    """What a function needs to be checked, and has not."""
    return [name for name, rule in rules_of(subject.value).items() if rule is None] + (
        [] if subject.declared is not None else ["samples"]
    )


def rules_of(function: Any) -> dict[str, Any]:
    """The rules of a function with a custom derivative, by name; None for one that is not given yet."""
    if isinstance(function, custom_jvp):
        return {"jvp": function.jvp}
    if isinstance(function, custom_vjp):
        return {"fwd": function.fwd, "bwd": function.bwd}
    return {}


def rule_at_fault(function: Any, mode: str) -> str:
    """The name of the rule that a failure of a mode is about."""
    if isinstance(function, custom_vjp):
        return "bwd"
    return "jvp" if isinstance(function, custom_jvp) or mode == "fwd" else "vjp"


def _check_seed(subject: Subject, report: Report, options: CheckOptions, seed: int) -> None:
    try:
        samples = draw(subject.declared, np.random.default_rng(seed))
        for k, drawn in enumerate(samples):
            require_arguments(subject.value, drawn, k)
    except (Exception, SystemExit) as e:  # the user's function may raise anything
        why = f"drawing them raised {told(e)}{raised_at(e)}"
        if isinstance(e, errors.ArgumentError):
            why = f"{e.message}\n  {e.mend}"
        message = f"{source_of(subject.declared, subject.name)}: {why}"
        report.fail(Failure(subject.name, SAMPLES, "impl", SAMPLES, message, seed=seed, module=subject.module))
        return
    if not samples and "samples" not in report.missing:
        report.missing.append("samples")
    first = next((k for k, s in enumerate(samples) if not s.nonsmooth), 0)
    for k, drawn in enumerate(samples):
        if options.only is not None and options.only[0] != k:
            continue
        s = cast_sample(subject.value, drawn, options.dtype, report) if options.dtype else drawn
        if s is not None:
            report.samples += 1
            order = options.order if not s.nonsmooth and (k == first or options.slow) else 1
            _SampleCheck(subject, report, options, s, k, seed).run(order)


class _SampleCheck:
    """All checks of a function at one sample."""

    def __init__(self, subject: Subject, report: Report, options: CheckOptions, s: Sample, k: int, seed: int):
        self.subject, self.report, self.options, self.sample, self.seed = subject, report, options, s, seed
        self.name = f"{k} of seed {seed}: {described(s)}"
        self.rng = np.random.default_rng((seed, k))
        self.function, self.free = varying(subject, s)

    def fail(self, rule: str, mode: str, layer: str, message: str, **details: Any) -> None:
        subject = self.subject
        self.report.fail(
            Failure(subject.name, rule, mode, layer, message, sample=self.name, seed=self.seed, module=subject.module,
                    **details)
        )  # fmt: skip

    def run(self, order: int) -> None:
        try:
            outs = tree.leaves(self.function(*self.free))
        except (Exception, SystemExit) as e:  # of whatever kind: the function is the user's
            self.fail("impl", "impl", "runs", f"before any rule was run, it raised {told(e)}{raised_at(e)}")
            return
        foreign = [type(y).__name__ for y in outs if not is_value(y)]
        if foreign:
            hint = "; write return in the place of yield" * (foreign[0] == "generator")
            message = f"the function's result has a {foreign[0]} where an array or a number is due{hint}"
            self.fail("impl", "impl", "structure", message)
            return
        self.report.passed("impl")
        modes = [m for m in self.options.modes if m in ("fwd", "rev")]
        inexact = [is_inexact(dtype_of(x)) for x in tree.leaves(self.free)]
        if not any(inexact) or not any(is_inexact(dtype_of(y)) for y in outs):
            self.report.skipped.append(f"derivative of sample {self.name}: no floating or complex argument and result")
            modes = []
        failed = len(self.report.failures)
        if modes:
            self.derivatives(modes, order)
        if self.subject.is_custom and len(self.report.failures) == failed:
            self.programs(modes)

    # derivatives

    def derivatives(self, modes: Sequence[str], order: int) -> None:
        options = self.options.of_grads()
        try:
            found = check_grads(self.function, self.free, order, tuple(modes), seed=self.seed, **options)
        except errors.CheckError as e:
            found = e.report
        except (Exception, SystemExit) as e:  # a rule that raises is wrong, whatever it raises
            rule = rule_at_fault(self.subject.value, modes[0])
            self.fail(rule, modes[0], "runs", f"raised {told(e)}{raised_at(e)}")
            return
        self.merge(found)

    def merge(self, found: Report) -> None:
        """Take over what check_grads has found at this sample."""
        report, function = self.report, self.subject.value
        report.checks += found.checks
        report.points += found.points
        report.outside += found.outside
        report.not_finite += [self.name] * len(found.not_finite)
        report.notes += [note for note in found.notes if note not in report.notes]
        report.worst = max(report.worst, found.worst)
        report.skipped += [f"sample {self.name}: {what}" for what in found.skipped]
        if not self.sample.nonsmooth:  # where it is declared, nothing else is to be expected
            report.inconclusive += [f"sample {self.name}: {what}" for what in found.inconclusive]
        for f in (*found.failures, *found.warnings):
            f.subject, f.module, f.sample, f.seed = self.subject.name, self.subject.module, self.name, self.seed
            if self.subject.is_custom and f.mode in ("fwd", "rev"):
                f.rule = rule_at_fault(function, f.mode)
        report.warnings += found.warnings
        report.failures += found.failures
        if report.fail_fast and found.failures:
            raise StopCheck

    # custom rules under vmap and jit

    def programs(self, modes: Sequence[str]) -> None:
        """The call, its jvp and its vjp, as functions of arrays: batched against the loop, compiled against eager."""
        call, xs, _ = flat_function(self.function, self.free)
        ys = call(*xs)
        active = [k for k, x in enumerate(xs) if is_inexact(dtype_of(x))]
        programs: list[tuple[str, Flat, list[Any]]] = [("call", call, list(xs))]
        ts = [t for t in dirs.tangents(self.rng, xs) if t is not None]
        cts = [c for c in dirs.cotangents(self.rng, ys) if c is not None]
        if "fwd" in modes:
            programs.append(("jvp", pushed_of(call, active, ys), [*xs, *ts]))
        if "rev" in modes:
            programs.append(("vjp", pulled_of(call, active, ys), [*xs, *cts]))
        for name, run, args in programs:
            if "vmap" in self.options.modes:
                self.guarded("vmap", name, lambda name=name, run=run, args=args: self.batched(name, run, args))
            if "jit" in self.options.modes:
                self.guarded("jit", name, lambda name=name, run=run, args=args: self.compiled(name, run, args))

    def guarded(self, mode: str, name: str, check: Callable[[], None]) -> None:
        try:
            check()
        except StopCheck:
            raise
        except (Exception, SystemExit) as e:  # a rule that raises is wrong, whatever it raises
            self.fail(self.rule_of(name), mode, "runs", f"{mode} of the {name} raised {told(e)}{raised_at(e)}")

    def rule_of(self, name: str) -> str:
        return "call" if name == "call" else rule_at_fault(self.subject.value, "fwd" if name == "jvp" else "rev")

    def batched(self, name: str, run: Flat, args: list[Any]) -> None:
        """Every array mapped, over its first axis and over its last; then each one alone, where they are few."""
        rows = [_row(args, i) for i in range(ROWS)]
        choices = [[True] * len(args)]
        if 1 < len(args) <= 4:
            choices += [[i == k for i in range(len(args))] for k in range(len(args))]
        for mapped in choices:
            mixed = [[r if m else first for r, first, m in zip(row, rows[0], mapped, strict=True)] for row in rows]
            try:
                loop = [run(*row) for row in mixed]
            except (ArithmeticError, ValueError) as e:
                self.report.skipped.append(f"vmap of sample {self.name}: a row is invalid: {told(e)}")
                continue
            want = [np.stack([np.asarray(y) for y in column]) for column in zip(*loop, strict=True)]
            for axis in (0, -1) if all(mapped) else (0,):
                stacked = [np.stack([row[k] for row in rows], axis) if m else rows[0][k] for k, m in enumerate(mapped)]
                got = vmap(run, in_axes=tuple(axis if m else None for m in mapped))(*stacked)
                which = f"arrays {[k for k, m in enumerate(mapped) if m]} of {len(mapped)} mapped over axis {axis}"
                self.compare("vmap", name, "loop", got, want, which)

    def compiled(self, name: str, run: Flat, args: list[Any]) -> None:
        self.compare("jit", name, "value", jit(run)(*args), run(*args), "")

    def compare(self, mode: str, name: str, layer: str, got: list[Any], want: list[Any], which: str) -> None:
        other = "the loop" if mode == "vmap" else "the eager run"
        for k, (y, w) in enumerate(zip(got, want, strict=True)):
            if (shape_of(y), dtype_of(y)) != (shape_of(w), dtype_of(w)):
                message = f"result {k} of the {name} under {mode} is of another kind than that of {other}"
                wanted, found = (f"{dtype_of(v)}{list(shape_of(v))}" for v in (w, y))
                self.fail(self.rule_of(name), mode, "structure", message, argument=which, expected=wanted, got=found)
            elif not close(y, w, ROUNDINGS):
                message = f"result {k} of the {name} under {mode} differs from {other}"
                self.fail(self.rule_of(name), mode, layer, message, argument=which, expected=brief(w), got=brief(y))
            else:
                self.report.passed(mode)


def pushed_of(call: Flat, active: Sequence[int], ys: Sequence[Any]) -> Flat:
    """(all inputs, tangents of the active ones) -> tangents of the inexact outputs."""
    inexact = [is_inexact(dtype_of(y)) for y in ys]

    def pushed(*zs: Any) -> list[Any]:
        xs, ts = list(zs[: len(zs) - len(active)]), zs[len(zs) - len(active) :]
        tys = jvp(_of_active(call, xs, active), tuple(xs[k] for k in active), tuple(ts))[1]
        return [t for t, f in zip(tys, inexact, strict=True) if f]

    return pushed


def pulled_of(call: Flat, active: Sequence[int], ys: Sequence[Any]) -> Flat:
    """(all inputs, cotangents of the inexact outputs) -> cotangents of the active inputs."""
    inexact = [is_inexact(dtype_of(y)) for y in ys]

    def pulled(*zs: Any) -> list[Any]:
        xs, cts = list(zs[: len(zs) - sum(inexact)]), iter(zs[len(zs) - sum(inexact) :])
        pull = vjp(_of_active(call, xs, active), *[xs[k] for k in active])[1]
        return list(pull([next(cts) if f else None for f in inexact]))

    return pulled


def _of_active(call: Flat, xs: Sequence[Any], active: Sequence[int]) -> Flat:
    def of_active(*some: Any) -> list[Any]:
        args = list(xs)
        for k, x in zip(active, some, strict=True):
            args[k] = x
        return call(*args)

    return of_active


def _row(args: Sequence[Any], i: int) -> list[Any]:
    """Row i of a batch: inexact entries scaled a little, each row by its own factor."""
    return [np.asarray(np.asarray(a) * (1 + 0.03 * i), dtype_of(a))[()] if is_inexact(dtype_of(a)) else a for a in args]


# samples


def varying(subject: Subject, s: Sample) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function of those arguments of a sample that vary, and these. Arguments that a custom function sets aside, and
    those that are no arrays (Python integers and booleans, strings, functions), are held fixed."""
    function = subject.value
    aside = {k % len(s.args) for k in getattr(function, "nondiff_argnums", ())} if s.args else set()
    held = [k for k, a in enumerate(s.args) if k in aside or not all(map(_varies, tree.leaves(a)))]
    if not held and not s.params:
        return function, s.args
    names = dict(enumerate(parameter_names(function)))
    names = {k: names.get(k, f"argument {k}") for k in range(len(s.args)) if k not in held}

    def of_varying(arguments: dict[str, Any]) -> Any:
        args = [arguments[names[k]] if k in names else a for k, a in enumerate(s.args)]
        return function(*args, **s.params)

    of_varying.__name__ = subject.name
    return of_varying, ({name: s.args[k] for k, name in names.items()},)


def require_arguments(function: Any, s: Sample, k: int) -> None:
    """Raise where a function does not take the arguments of a sample."""
    try:
        signature = inspect.signature(getattr(function, "fun", function))
    except (TypeError, ValueError):  # not every function has one
        return
    try:
        signature.bind(*s.args, **s.params)
    except TypeError as e:
        raise errors.ArgumentError(
            f"entry {k} has the arguments {described(s)}, and the function takes {signature}: {e}",
            mend="write a tuple with one entry an argument; sample(x, k=2) gives keyword arguments too",
            where="",
        ) from None


def source_of(declared: Any, name: str) -> str:
    """Where the samples of a function come from."""
    entry = f"{DECLARATION}[{name!r}]"
    code = getattr(declared, "__code__", None)
    if code is None:
        return entry
    return f"{entry}, the function {declared.__name__} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def is_value(leaf: Any) -> bool:
    """Whether a leaf is an array or a number, traced or not."""
    try:
        dtype_of(leaf)
    except errors.AutodidaxError:
        return False
    return True


def _varies(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | float | complex)


def cast_sample(function: Any, s: Sample, dtype: str, report: Report) -> Sample | None:
    """A sample with its floating and complex arrays in a dtype, where the function takes them; None where it does not.

    Complex arrays have no place in a real dtype.
    """

    def cast(x: Any) -> Any:
        if not _varies(x) or not is_inexact(dtype_of(x)):
            return x
        if dtype_of(x).kind == "c" and np.dtype(dtype).kind != "c":
            raise TypeError("an argument is complex")
        return np.asarray(x, dtype)[()]

    try:
        moved = Sample(tree.map(cast, s.args), s.params, s.nonsmooth, s.name)
        function(*moved.args, **moved.params)
    except (Exception, SystemExit) as e:  # of whatever kind: the function is the user's
        report.skipped.append(f"sample {described(s)} in {dtype}: {told(e)}")
        return None
    return moved


def told(error: BaseException) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {error}".split("\n")[0]


def described(s: Sample) -> str:
    """A sample in one line: its arrays by dtype and shape, other arguments as they are."""
    texts = []
    for a in s.args:
        leaves = [x for x in tree.leaves(a) if _varies(x)]
        whole = ", ".join(f"{dtype_of(x)}{list(shape_of(x))}" for x in leaves)
        texts.append(whole if leaves and leaves[0] is a else f"[{whole}]" if leaves else repr(a)[:40])
    params = [f"{k}={v!r}" for k, v in s.params.items()]
    return f"{s.name + ': ' if s.name else ''}({', '.join(texts + params)})"
