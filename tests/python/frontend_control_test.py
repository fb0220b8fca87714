"""Run-time control flow becomes structured IR; what it does is shown by tests/run."""

from __future__ import annotations

import pytest

import enceladus
from frontend_helpers import error_of, ir_of, kernel_of


def test_a_compile_time_branch_that_is_not_taken_is_not_compiled() -> None:
    kernel = kernel_of("""
        def f(x_ptr, FAST: tl.constexpr):
            if FAST:
                tl.store(x_ptr, 1.0)
            else:
                tl.store(x_ptr, no_such_name)
    """)
    text = ir_of(kernel, x_ptr="*float32", FAST=True)
    assert "if" not in text.split()
    with pytest.raises(enceladus.CompilationError, match="no_such_name"):
        ir_of(kernel, x_ptr="*float32", FAST=False)


def test_what_follows_a_compile_time_return_is_not_compiled() -> None:
    kernel = kernel_of("""
        def f(x_ptr, STOP: tl.constexpr):
            if STOP:
                return
            tl.store(x_ptr, no_such_name)
    """)
    assert "store" not in ir_of(kernel, x_ptr="*float32", STOP=True)


def test_what_follows_an_early_return_stands_in_the_other_branch() -> None:
    kernel = kernel_of("""
        def f(x_ptr, n):
            if tl.program_id(0) >= n:
                return
            tl.store(x_ptr, 1.0)
    """)
    text = ir_of(kernel, x_ptr="*float32")
    assert text.count("if %") == 1
    assert text.index("else") < text.index("store")


def test_a_value_that_no_iteration_changes_is_not_carried() -> None:
    kernel = kernel_of("""
        def f(x_ptr, n):
            total = 0.0
            other = 1.0
            for i in range(n):
                total += other
                if n < 0:
                    other = other
            tl.store(x_ptr, total)
    """)
    text = ir_of(kernel, x_ptr="*float32")
    loop = next(line for line in text.splitlines() if "= for " in line)
    assert loop.count("=") == 3  # the result, the induction variable and one carried value


def test_a_for_loop_with_break_becomes_a_while() -> None:
    kernel = kernel_of("""
        def f(x_ptr, n):
            for i in range(n):
                if tl.load(x_ptr + i) == 0.0:
                    break
    """)
    text = ir_of(kernel, x_ptr="*float32")
    assert "= while carry" in text
    assert " for " not in text


def test_the_right_operand_of_and_is_guarded_where_it_reads_memory() -> None:
    kernel = kernel_of("""
        def f(x_ptr, n):
            i = 0
            while i < n and tl.load(x_ptr + i) > 0.0:
                i += 1
            tl.store(x_ptr, i)
    """)
    text = ir_of(kernel, x_ptr="*float32")
    assert text.index("= if ") < text.index("= load ")


def test_pure_operands_of_and_need_no_branch() -> None:
    kernel = kernel_of("""
        def f(x_ptr, n):
            if n > 1 and n < 5:
                tl.store(x_ptr, 1.0)
    """)
    text = ir_of(kernel, x_ptr="*float32")
    assert text.count("if ") == 1
    assert "= and " in text


def test_static_range_is_unrolled_and_counts_down_too() -> None:
    kernel = kernel_of("""
        def f(x_ptr):
            for i in tl.static_range(6, 0, -2):
                tl.store(x_ptr + i, i)
    """)
    text = ir_of(kernel, x_ptr="*int32")
    assert [f"constant {i} : i32" in text for i in (6, 4, 2)] == [True, True, True]
    assert text.count("  store ") == 3


def test_a_helper_with_early_returns_is_inlined() -> None:
    kernel = kernel_of("""
        @enceladus.jit
        def sign(x):
            if x > 0:
                return 1
            if x < 0:
                return -1
            return 0
        def f(x_ptr, n):
            tl.store(x_ptr, sign(n))
    """)
    text = ir_of(kernel, x_ptr="*int32")
    assert "call" not in text
    assert "store %x_ptr" in text


def test_errors_of_independent_statements_are_reported_together() -> None:
    kernel = kernel_of("""
        def f(x_ptr, n):
            a = tl.zeros((3,), tl.float32)
            b = a + 1
            c = tl.exq(b)
            d = tl.arange(0, 5)
            tl.store(x_ptr, d)
    """)
    with pytest.raises(enceladus.CompilationError) as caught:
        ir_of(kernel, x_ptr="*float32")
    found = [(d.name, d.line) for d in caught.value.diagnostics]
    assert found == [("NotPowerOfTwo", 2), ("UnknownFunction", 4), ("NotPowerOfTwo", 5)]


def test_an_error_in_a_helper_tells_where_it_was_called() -> None:
    diagnostic = error_of(
        """
        @enceladus.jit
        def inner(x):
            return tl.exp(x)
        def f(x_ptr, n):
            tl.store(x_ptr, inner(n))
        """,
        x_ptr="*float32",
    )
    assert diagnostic.line == 3
    assert ":5:21: called from here" in diagnostic.text


def test_an_error_in_a_function_of_the_library_points_to_the_kernel() -> None:
    diagnostic = error_of(
        """
        def f(x_ptr):
            tl.store(x_ptr, tl.softmax(tl.arange(0, 8)))
        """,
        x_ptr="*float32",
    )
    assert diagnostic.line == 2
    assert "standard.py" not in diagnostic.text


def test_an_unsigned_offset_is_subtracted_exactly() -> None:
    kernel = kernel_of("""
        def f(x_ptr, n):
            tl.store(x_ptr - n, 0.0)
    """)
    text = ir_of(kernel, x_ptr="*float32", n="uint32")
    assert "cast %n : u32 -> i64" in text


def test_an_unknown_attribute_named_value_is_an_error_like_any_other() -> None:
    diagnostic = error_of(
        """
        def f(x_ptr):
            tl.store(x_ptr, tl.value(0))
    """,
        x_ptr="*float32",
    )
    assert diagnostic.name == "UnknownFunction"
