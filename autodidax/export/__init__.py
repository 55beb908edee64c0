"""Programs as data: functions that are stored in files, loaded elsewhere and called, differentiated and batched there.

>>> import numpy as np
>>> import autodidax
>>> from autodidax.export import deserialize, export
>>> data = export(autodidax.jit(lambda x: x * np.sin(x)))(np.zeros(2)).serialize()
>>> deserialize(data).call(np.ones(2)).round(3)
array([0.841, 0.841])

A file holds numbers and names alone; no code is run by loading it. Jaxprs can also be pickled, in the same format, and
drawn.
"""

from autodidax.compile.drawing import to_dot, to_svg
from autodidax.export.exported import Exported, deserialize, export, load
from autodidax.export.trees import register_namedtuple_serialization, register_pytree_node_serialization

__all__ = [
    "Exported",
    "deserialize",
    "export",
    "load",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "to_dot",
    "to_svg",
]
