"""The registry of `tl`: every public name is documented, and the interpreter repeats it."""

import inspect
import re
from pathlib import Path

import pytest

import enceladus.language as tl
from enceladus.interpreter import launch  # noqa: F401 (fills TABLE)
from enceladus.interpreter.values import TABLE
from enceladus.language import _registry
from enceladus.language._registry import BUILTINS, DESCRIPTOR_METHODS, HELPERS, TILE_METHODS

FUNCTIONS = {**BUILTINS, **HELPERS}


def parameters(function):
    signature = inspect.signature(function)
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_interpreter_has_the_signature_of_the_stub(name):
    assert parameters(TABLE[name]) == parameters(BUILTINS[name])


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_docstring_has_every_section(name):
    documentation = inspect.getdoc(FUNCTIONS[name])
    if inspect.signature(FUNCTIONS[name]).parameters:
        assert "Args:" in documentation
        for parameter in inspect.signature(FUNCTIONS[name]).parameters:
            assert f"    {parameter}:" in documentation
    assert "Example:" in documentation


def frontend_records():
    """name -> (tile methods, descriptor method, signature) of functions.def."""
    path = Path(__file__).parents[2] / "src" / "frontend" / "functions.def"
    record = re.compile(r'^FUNCTION\(\w+, (\w+), "(.*?)", "(.*?)", "(.*)"\)$', re.M)
    # A backslash of the signature is two in the C string.
    text = path.read_text().replace("\\\\", "\\")
    return {name: rest for name, *rest in record.findall(text)}


@pytest.mark.parametrize("name", sorted({*BUILTINS, "range", "static_range"}))
def test_frontend_has_the_signature_of_the_stub(name):
    _, _, signature = frontend_records()[name]
    scope = {"PropagateNan": tl.PropagateNan, "float32": tl.float32}
    exec(f"def function({signature}): pass", scope)
    stub = BUILTINS[name] if name in BUILTINS else getattr(tl, name)
    assert parameters(scope["function"]) == parameters(stub)


def test_frontend_has_the_methods_and_no_other_functions():
    records = frontend_records()
    assert set(records) == {*BUILTINS, "range", "static_range"}
    methods = {method: name for name, (tile, _, _) in records.items() for method in tile.split()}
    assert methods == {m: name for m, name in TILE_METHODS.items() if name in BUILTINS}
    descriptor = {method: name for name, (_, method, _) in records.items() if method}
    assert descriptor == DESCRIPTOR_METHODS


def test_every_function_of_the_registry_is_public():
    public = {getattr(tl, name) for name in tl.__all__ if callable(getattr(tl, name))}
    assert {name for name, function in FUNCTIONS.items() if function not in public} == set()


def test_methods_name_registered_functions():
    assert set(TILE_METHODS.values()) <= set(FUNCTIONS)
    assert set(DESCRIPTOR_METHODS.values()) <= set(BUILTINS)


def test_math_and_libdevice_hold_the_same_functions():
    assert tl.math.exp is tl.exp
    assert tl.extra.libdevice.rsqrt is tl.rsqrt


def test_builtin_outside_a_kernel_says_where_it_works():
    with pytest.raises(RuntimeError, match=r"`tl.load` works only inside a kernel"):
        tl.load(0)
    with pytest.raises(RuntimeError, match=r"`tl.range` works only inside a kernel"):
        list(tl.range(3))
    assert not _registry.is_interpreting()


def test_cdiv_works_on_the_host():
    assert tl.cdiv(1000, 256) == 4
