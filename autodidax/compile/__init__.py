"""The compiler: jaxpr in, executable out; one file a backend."""

from autodidax.compile import numpy_backend as numpy_backend
