"""Atomic operations. Elements of one tile that meet at one address act one after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from enceladus.interpreter.context import fail
from enceladus.interpreter.memory import active_elements, element_type, pointer, stored_elements
from enceladus.interpreter.numpy_types import Array, computing, numpy_type
from enceladus.interpreter.values import TABLE, Value
from enceladus.language.core import dtype, unwrap

SEMANTICS = (None, "acq_rel", "acquire", "release", "relaxed")
SCOPES = (None, "gpu", "cta", "sys")
Update = Callable[[Array, Array], Array]

UPDATES: dict[str, Update] = {
    "atomic_add": np.add,
    "atomic_max": np.fmax,
    "atomic_min": np.fmin,
    "atomic_and": np.bitwise_and,
    "atomic_or": np.bitwise_or,
    "atomic_xor": np.bitwise_xor,
    "atomic_xchg": lambda old, new: new,
}
INTEGERS_ONLY = ("atomic_and", "atomic_or", "atomic_xor")


def _check_order(name: str, sem: Any, scope: Any) -> None:
    if unwrap(sem) not in SEMANTICS:
        fail(f"`sem` of `tl.{name}` is one of {SEMANTICS[1:]}, not {unwrap(sem)!r}")
    if unwrap(scope) not in SCOPES:
        fail(f"`scope` of `tl.{name}` is one of {SCOPES[1:]}, not {unwrap(scope)!r}")


def _target(name: str, candidate: Any) -> tuple[Value, dtype]:
    pointers = pointer(candidate, name)
    element = element_type(pointers)
    if element.is_bool() or element.is_fp8():
        fail(f"`tl.{name}` does not work on `{element.name}`")
    if element.is_floating() and name in INTEGERS_ONLY:
        fail(f"`tl.{name}` works on integers, not on `{element.name}`")
    return pointers, element


def _update(
    pointers: Value, new: Array, active: Array | None, step: Callable[[Array, Array], Array]
) -> Value:
    """Replaces each active element by `step(old, new)`, and gives what was there before."""
    memory, element = pointers.memory, element_type(pointers)
    memory.check_writable()
    memory.check(pointers.data, active, "atomic on")
    result = np.zeros(pointers.shape, numpy_type(element))
    chosen = np.ones(pointers.shape, bool) if active is None else active
    offsets, values = pointers.data[chosen], new[chosen]
    if np.unique(offsets).size == offsets.size:
        before = memory.elements[offsets]
        memory.elements[offsets] = step(before, values)
    else:
        before = np.empty(offsets.size, numpy_type(element))
        for i in range(offsets.size):
            one = slice(i, i + 1)
            before[one] = memory.elements[offsets[one]]
            memory.elements[offsets[one]] = step(before[one], values[one])
    result[chosen] = before
    return Value(result, element)


def atomic(
    name: str, pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> Value:
    _check_order(name, sem, scope)
    pointers, element = _target(name, pointer)
    function = UPDATES[name]

    def step(old: Array, new: Array) -> Array:
        result = function(computing(old, element), computing(new, element))
        return np.asarray(result).astype(numpy_type(element))

    active = active_elements(mask, pointers.shape)
    return _update(pointers, stored_elements(val, pointers), active, step)


def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> Value:
    _check_order("atomic_cas", sem, scope)
    pointers, element = _target("atomic_cas", pointer)
    expected = np.ascontiguousarray(stored_elements(cmp, pointers))
    bits = f"u{numpy_type(element).itemsize}"
    replacement = stored_elements(val, pointers)
    # The step sees pairs (replacement, expected bits), because both vary by element.
    pairs = np.zeros(pointers.shape, [("new", numpy_type(element)), ("expected", bits)])
    pairs["new"], pairs["expected"] = replacement, expected.view(bits)

    def step(old: Array, pair: Array) -> Array:
        return np.where(np.asarray(old).view(bits) == pair["expected"], pair["new"], old)

    return _update(pointers, pairs, None, step)


def _register(name: str) -> Callable[..., Value]:
    def operation(
        pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
    ) -> Value:
        return atomic(name, pointer, val, mask, sem, scope)

    return operation


TABLE.update({name: _register(name) for name in UPDATES})
TABLE["atomic_cas"] = atomic_cas
