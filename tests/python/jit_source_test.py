"""`enceladus.jit`: where a kernel's text is found, and what is refused at decoration."""

from __future__ import annotations

import copy
import functools
import importlib.util
import linecache
import pickle
import sys
from pathlib import Path

import pytest

import enceladus
from enceladus.jit import JITFunction

TEXT = """
import enceladus

@enceladus.jit(
    do_not_specialize=["n"],
)
def scaled(x_ptr, n, factor: float = 2.0, *, BLOCK: "tl.constexpr" = 8):
    # a comment that belongs to it
    return x_ptr

after = 1
"""


def check_scaled(kernel: JITFunction, filename: str) -> None:
    assert kernel.source.startswith("@enceladus.jit(\n")
    assert kernel.source.endswith("return x_ptr\n")
    assert (kernel.filename, kernel.first_line, kernel.indent) == (filename, 4, 0)
    assert [p.name for p in kernel.parameters] == ["x_ptr", "n", "factor", "BLOCK"]
    assert [p.is_constexpr for p in kernel.parameters] == [False, False, False, True]
    assert [p.do_not_specialize for p in kernel.parameters] == [False, True, False, False]
    assert kernel.parameters[2].default == 2.0
    assert kernel.parameters[3].keyword_only


def test_a_module_loaded_by_path_gives_source(tmp_path: Path) -> None:
    path = tmp_path / "by_path.py"
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("by_path", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check_scaled(module.scaled, str(path))


def test_exec_with_registered_lines_gives_source() -> None:
    name = "<exec-with-lines>"
    linecache.cache[name] = (len(TEXT), None, TEXT.splitlines(keepends=True), name)
    namespace: dict[str, object] = {}
    exec(compile(TEXT, name, "exec"), namespace)
    kernel = namespace["scaled"]
    assert isinstance(kernel, JITFunction)
    check_scaled(kernel, name)


def test_exec_without_lines_is_a_clear_error() -> None:
    with pytest.raises(OSError, match=r"source of `scaled` is not available.*linecache"):
        exec(compile(TEXT, "<exec-without-lines>", "exec"), {})


def test_a_notebook_cell_gives_source() -> None:
    # IPython registers each cell under a name of this form, with the same kind of entry.
    name = "/tmp/ipykernel_1234/5678.py"
    linecache.cache[name] = (len(TEXT), None, TEXT.splitlines(keepends=True), name)
    namespace: dict[str, object] = {}
    exec(compile(TEXT, name, "exec"), namespace)
    kernel = namespace["scaled"]
    assert isinstance(kernel, JITFunction)
    check_scaled(kernel, name)


def test_a_file_that_changed_since_import_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "changed.py"
    path.write_text(TEXT)
    code = compile(TEXT, str(path), "exec")
    path.write_text("# nothing\n" * 20)
    with pytest.raises(OSError, match="no longer holds `scaled`"):
        exec(code, {})


def test_an_indented_function_is_dedented() -> None:
    @enceladus.jit
    def nested(x_ptr):
        if x_ptr:
            pass

    assert nested.indent == 4
    assert nested.source.splitlines()[1] == "def nested(x_ptr):"
    line = Path(__file__).read_text().splitlines()[nested.first_line - 1]
    assert line == "    @enceladus.jit"


def test_metadata_is_the_functions_own() -> None:
    @enceladus.jit
    def documented(x_ptr):
        """What it does."""

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "What it does."
    assert documented.__wrapped__ is documented.fn
    assert documented.__module__ == __name__


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (lambda x: x, "not a lambda"),
        (len, "written in Python with def, not <built-in function len>"),
        (functools.partial(print), "of type partial"),
        (type("C", (), {}), "of type type"),
        (3, "not 3 of type int"),
    ],
)
def test_what_is_no_python_function_is_refused(thing: object, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        enceladus.jit(thing)  # type: ignore[call-overload]


def test_generators_star_arguments_and_double_decoration_are_refused() -> None:
    def generator(x_ptr):
        yield x_ptr

    def star(*args):
        pass

    def plain(x_ptr):
        pass

    with pytest.raises(TypeError, match="`generator` is a generator"):
        enceladus.jit(generator)
    with pytest.raises(TypeError, match=r"`star` takes \*args"):
        enceladus.jit(star)
    with pytest.raises(TypeError, match="`plain` is decorated with enceladus.jit twice"):
        enceladus.jit(enceladus.jit(plain))


def test_decorator_options_are_validated() -> None:
    def plain(x_ptr, n):
        pass

    with pytest.raises(ValueError, match="math_mode is one of 'relaxed', 'fast', 'precise'"):
        enceladus.jit(math_mode="exact")(plain)
    with pytest.raises(ValueError, match="names 'm', which is no parameter of `plain`"):
        enceladus.jit(do_not_specialize=["m"])(plain)
    kernel = enceladus.jit(do_not_specialize_on_alignment=[1])(plain)
    assert [p.do_not_specialize_on_alignment for p in kernel.parameters] == [False, True]


def test_a_plain_call_of_a_kernel_says_how_to_launch() -> None:
    @enceladus.jit
    def kernel(x_ptr):
        pass

    with pytest.raises(TypeError, match=r"launch it with kernel\[grid\]"):
        kernel(1)


@enceladus.jit
def at_module_level(x_ptr):
    pass


def test_kernels_pickle_and_copy_by_name() -> None:
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level
    assert copy.deepcopy([at_module_level]) == [at_module_level]


def test_cdiv_and_next_power_of_2() -> None:
    assert [enceladus.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [enceladus.next_power_of_2(n) for n in (0, 1, 2, 3, 1000, 1024)] == [
        1,
        1,
        2,
        4,
        1024,
        1024,
    ]


def test_importing_enceladus_loads_no_framework() -> None:
    import subprocess

    program = (
        "import sys, enceladus; "
        "print([m for m in ('torch', 'jax', 'mlx', 'matplotlib', 'rich') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
