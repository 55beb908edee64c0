"""Avals, tracers, the interpreter stack and bind, primitives and their registry, the jaxpr."""

from autodidax.core import printing as printing
