"""The one list of kernel cases, by which every target is judged."""

from . import (
    atomics,
    combines,
    constants,
    control,
    conversions,
    descriptors,
    elementwise,
    float8,
    kernels,
    loop_variables,
    mathematics,
    memory,
    products,
    reductions,
    scans,
    shapes,
    tallies,
)
from .case import Case

MODULES = (
    elementwise,
    conversions,
    mathematics,
    memory,
    descriptors,
    shapes,
    reductions,
    scans,
    combines,
    products,
    float8,
    atomics,
    tallies,
    control,
    loop_variables,
    constants,
    kernels,
)

CASES: list[Case] = [case for module in MODULES for case in module.cases()]
