"""The one list of kernel cases, by which every target is judged."""

from . import elementwise
from .case import Case

MODULES = (elementwise,)

CASES: list[Case] = [case for module in MODULES for case in module.cases()]
