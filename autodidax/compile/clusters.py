"""Clusters: chains of elementwise operations on large arrays of one shape, and the reductions that close them, become
one equation `cluster`, which a backend runs block by block, so that what lies between stays in the cache.

A value joins a cluster where that makes no cycle: none of its operands may need what comes out of the cluster.
"""

from __future__ import annotations

import heapq
from typing import Any

from autodidax.compile.dead_code import eliminate
from autodidax.compile.kernels import is_known, size_of
from autodidax.core.avals import ShapedArray
from autodidax.core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, eval_jaxpr
from autodidax.core.primitive import Pointwise, Primitive

LARGE = 32768  # entries of the arrays that are worth it
FEWEST = 2  # equations of a cluster
CANDIDATES = 4  # clusters that an equation is tried for
ELEMENTWISE = {"where", "convert_element_type", "broadcast_to"}  # beside the pointwise primitives
CLOSING = {"reduce_sum", "reduce_max", "reduce_min"}


class Cluster(Primitive):
    """Runs a program of elementwise operations of one shape, and reductions of their results."""

    multiple_results = True
    higher_order = True
    checked = "the compiler makes its equations"

    def impl(self, *args: Any, jaxpr: ClosedJaxpr, shape: tuple[int, ...]) -> list[Any]:
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)

    def abstract_eval(self, *avals: ShapedArray, jaxpr: ClosedJaxpr, shape: tuple[int, ...]) -> list[ShapedArray]:
        return jaxpr.out_avals


cluster_p = Cluster("cluster", register=False)


class _Group:
    """A cluster in the making: its shape, equations by position, and the groups that it needs the results of."""

    __slots__ = ("shape", "members", "needs", "open", "work")

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape
        self.members: list[int] = []
        self.needs = 0
        self.open = True
        self.work = 0


def gather(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with its clusters as single equations."""
    eqns = closed.jaxpr.eqns
    if not any(size_of(v.aval) >= LARGE for eqn in eqns for v in eqn.outvars[:1]):
        return closed
    groups = _Grouping(eqns).groups
    kept = [g for g in groups if g.work >= FEWEST]
    if not kept:
        return closed
    return _scheduled(closed, kept)


class _Grouping:
    def __init__(self, eqns: list[JaxprEqn]):
        self.groups: list[_Group] = []
        self.inside: dict[Any, int] = {}  # value of a group's own shape -> the group
        self.after: dict[Any, int] = {}  # value -> the groups that have to be done before it is there, as bits
        for k, eqn in enumerate(eqns):
            self.place(k, eqn)

    def place(self, k: int, eqn: JaxprEqn) -> None:
        name, out = eqn.primitive.name, eqn.outvars
        if eqn.has_effect:
            for group in self.groups:
                group.open = False
        elif name in CLOSING:
            g = self.inside.get(eqn.invars[0])
            if g is not None and self.groups[g].open:
                self.groups[g].members.append(k)
                self.groups[g].work += 1
                self.after[out[0]] = 1 << g
                return
        elif len(out) == 1 and _is_elementwise(eqn) and size_of(out[0].aval) >= LARGE:
            g = self.group_for(eqn)
            group = self.groups[g]
            group.members.append(k)
            group.work += name != "broadcast_to"
            group.needs |= self.needed(eqn, g)
            self.inside[out[0]] = g
            self.after[out[0]] = 1 << g
            return
        needed = self.needed(eqn, -1)
        if needed:
            for v in out:
                self.after[v] = needed

    def needed(self, eqn: JaxprEqn, g: int) -> int:
        """The groups that have to be done before an equation of group g can be run."""
        found = 0
        for a in eqn.invars:
            if type(a) is not Literal and (g < 0 or self.inside.get(a, -1) != g):
                found |= self.after.get(a, 0)
        return found

    def group_for(self, eqn: JaxprEqn) -> int:
        shape = eqn.outvars[0].aval.shape
        own = [self.inside[a] for a in eqn.invars if type(a) is not Literal and a in self.inside]
        recent = [g for g in range(len(self.groups) - 1, -1, -1)[:CANDIDATES] if g not in own]
        for g in [*sorted(set(own), reverse=True), *recent]:
            group = self.groups[g]
            if group.open and group.shape == shape and not self.reaches(self.needed(eqn, g), g):
                return g
        self.groups.append(_Group(shape))
        return len(self.groups) - 1

    def reaches(self, needed: int, g: int) -> bool:
        """Whether one of these groups is, or needs, group g."""
        seen = 0
        while needed:
            if needed >> g & 1:
                return True
            k = needed.bit_length() - 1
            needed &= ~(1 << k)
            seen |= 1 << k
            needed |= self.groups[k].needs & ~seen
        return False


def _is_elementwise(eqn: JaxprEqn) -> bool:
    p = eqn.primitive
    return is_known(p) and (isinstance(p, Pointwise) or p.name in ELEMENTWISE)


def _scheduled(closed: ClosedJaxpr, groups: list[_Group]) -> ClosedJaxpr:
    """The program with these groups as equations, in an order in which every value is there when it is read."""
    jaxpr = closed.jaxpr
    home: dict[int, int] = {k: n for n, group in enumerate(groups) for k in group.members}
    nodes: list[list[int]] = [group.members for group in groups]
    nodes += [[k] for k in range(len(jaxpr.eqns)) if k not in home]
    maker: dict[Any, int] = {}
    for n, members in enumerate(nodes):
        for k in members:
            for v in jaxpr.eqns[k].outvars:
                maker[v] = n
    users: list[list[int]] = [[] for _ in nodes]
    waiting = [0] * len(nodes)
    previous = None
    for n, members in enumerate(nodes):
        sources = {maker[a] for k in members for a in jaxpr.eqns[k].invars if type(a) is not Literal and a in maker}
        if n >= len(groups) and jaxpr.eqns[members[0]].has_effect:  # effects stay in order
            sources |= {previous} if previous is not None else set()
            previous = n
        for source in sources - {n}:
            users[source].append(n)
            waiting[n] += 1
    ready = [(members[-1], n) for n, members in enumerate(nodes) if not waiting[n]]
    heapq.heapify(ready)
    read_by: dict[Any, set[int]] = {}
    for n, members in enumerate(nodes):
        for k in members:
            for a in jaxpr.eqns[k].invars:
                if type(a) is not Literal:
                    read_by.setdefault(a, set()).add(n)
    returned = {v for v in jaxpr.outvars if type(v) is Var}
    eqns: list[JaxprEqn] = []
    while ready:
        _, n = heapq.heappop(ready)
        inside = [jaxpr.eqns[k] for k in nodes[n]]
        if n < len(groups):
            outs = [v for e in inside for v in e.outvars if v in returned or read_by.get(v, set()) - {n}]
            eqns.append(_as_equation(inside, outs, groups[n].shape))
        else:
            eqns += inside
        for user in users[n]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (nodes[user][-1], user))
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns), closed.consts)


def _as_equation(members: list[JaxprEqn], outs: list[Var], shape: tuple[int, ...]) -> JaxprEqn:
    made = {v for e in members for v in e.outvars}
    ins = list(dict.fromkeys(a for e in members for a in e.invars if type(a) is Var and a not in made))
    inner: dict[Any, Atom] = {v: Var(v.aval) for v in (*ins, *made)}
    eqns = [
        JaxprEqn(
            e.primitive, [a if type(a) is Literal else inner[a] for a in e.invars], [inner[v] for v in e.outvars],
            e.params, e.quiet, e.mark,
        )
        for e in members
    ]  # fmt: skip
    program = eliminate(ClosedJaxpr(Jaxpr([], [inner[v] for v in ins], [inner[v] for v in outs], eqns), []))
    quiet = all(e.quiet for e in members)
    return JaxprEqn(cluster_p, list(ins), outs, {"jaxpr": program, "shape": shape}, quiet, members[-1].mark)
