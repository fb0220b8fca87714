"""The one list of kernel cases, by which every target is judged."""

from . import conversions, descriptors, elementwise, mathematics, memory, shapes
from .case import Case

MODULES = (elementwise, conversions, mathematics, memory, descriptors, shapes)

CASES: list[Case] = [case for module in MODULES for case in module.cases()]
