"""Drawings: dot texts that hold each equation and each edge once, and SVG through Graphviz where it is installed."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors
from autodidax.core.jaxpr import Literal, subjaxprs
from autodidax.export import to_dot, to_svg
from tests.export.programs import PROGRAMS, X

NODE = re.compile(r'^ *(n\d+) \[label="((?:[^"\\]|\\.)*)"')
EDGE = re.compile(r"^ *(n\d+) -> (n\d+)")


def closed_of(name):
    f, *args = PROGRAMS[name]
    return ad.make_jaxpr(f)(*args)


def counts(jaxpr):
    """Nodes and edges that a drawing has to have."""
    literals = [a for e in (*jaxpr.eqns, jaxpr) for a in getattr(e, "invars", ()) if type(a) is Literal]
    literals += [a for a in jaxpr.outvars if type(a) is Literal]
    nodes = len(jaxpr.constvars) + len(jaxpr.invars) + len(jaxpr.eqns) + len(jaxpr.outvars) + len(literals)
    edges = sum(len(e.invars) for e in jaxpr.eqns) + len(jaxpr.outvars)
    for eqn in jaxpr.eqns:
        for sub in subjaxprs(eqn.params):
            more = counts(sub.jaxpr)
            nodes, edges = nodes + more[0], edges + more[1]
    return nodes, edges


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_equation_and_every_edge(name):
    closed = closed_of(name)
    text = to_dot(closed)
    assert text == to_dot(closed.jaxpr)
    nodes = [m[1] for m in map(NODE.match, text.splitlines()) if m]
    edges = [m.groups() for m in map(EDGE.match, text.splitlines()) if m]
    assert len(set(nodes)) == len(nodes)
    assert (len(nodes), len(edges)) == counts(closed.jaxpr)
    assert {n for edge in edges for n in edge} <= set(nodes)
    assert text.count("{") == text.count("}")
    assert "0x" not in text


def test_clusters_hold_the_programs_within():
    f = lambda x: ad.lax.cond(x[0] > 0, ad.jit(anp.sin), lambda x: x * 2.0, x)
    text = to_dot(ad.make_jaxpr(f)(X), name='a "name"')
    assert text.startswith('digraph "a \\"name\\"" {')
    assert re.findall(r'label="(branches \d|jaxpr)"', text) == ["branches 0", "branches 1", "jaxpr"]
    assert 'label="sin"' in text and 'label="2.0:f64[]"' in text and 'label="bool[]"' in text


def test_parameters_in_labels():
    text = to_dot(ad.make_jaxpr(lambda x: anp.sum(x, axis=0)[None])(np.ones((2, 3))))
    assert r'label="reduce_sum\naxes=(0,)"' in text


@pytest.mark.parametrize("draw", [to_dot, to_svg])
def test_only_jaxprs_are_drawn(draw):
    with pytest.raises(errors.ArgumentError, match="to_dot takes a jaxpr, got ufunc"):
        draw(np.sin)


def test_svg_needs_graphviz(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(errors.UnsupportedError, match="Graphviz's program dot, which is not found") as caught:
        to_svg(closed_of("a chain"))
    assert "install Graphviz" in caught.value.mend


@pytest.mark.parametrize("code", [0, 1])
def test_svg_is_what_dot_says(code, monkeypatch):
    calls = []

    def run(command, **options):
        calls.append((command, options["input"]))
        return subprocess.CompletedProcess(command, code, "<svg/>", "no memory\n")

    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/dot")
    monkeypatch.setattr(subprocess, "run", run)
    closed = closed_of("a chain")
    if code:
        with pytest.raises(errors.UnsupportedError, match="dot failed: no memory"):
            to_svg(closed)
    else:
        assert to_svg(closed) == "<svg/>"
    assert calls == [(["/usr/bin/dot", "-Tsvg"], to_dot(closed))]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ["a chain", "scan", "cond", "a root"])
def test_svg(name):
    assert "<svg" in to_svg(closed_of(name))
