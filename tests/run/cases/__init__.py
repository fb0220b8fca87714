"""The one list of kernel cases, by which every target is judged."""

from . import conversions, elementwise, mathematics
from .case import Case

MODULES = (elementwise, conversions, mathematics)

CASES: list[Case] = [case for module in MODULES for case in module.cases()]
