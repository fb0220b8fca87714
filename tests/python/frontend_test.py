"""Kernels from Python source to tile IR: whole kernels and their shape."""

from __future__ import annotations

from frontend_helpers import dependencies_of, ir_of, kernel_of

FLOATS = {"x_ptr": "*float32", "y_ptr": "*float32", "o_ptr": "*float32"}


def test_vector_add_is_two_loads_an_addition_and_a_store() -> None:
    kernel = kernel_of("""
        def add(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            mask = offsets < n
            x = tl.load(x_ptr + offsets, mask=mask)
            y = tl.load(y_ptr + offsets, mask=mask)
            tl.store(o_ptr + offsets, x + y, mask=mask)
    """)
    text = ir_of(kernel, BLOCK=1024, **FLOATS)
    assert text.count("= load ") == 2
    assert text.count("  store ") == 1
    assert "add %x, %y : tile<1024xf32>" in text


def test_a_half_precision_sum_accumulates_in_float32_and_rounds_once() -> None:
    kernel = kernel_of("""
        def total(x_ptr, o_ptr, BLOCK: tl.constexpr):
            x = tl.load(x_ptr + tl.arange(0, BLOCK))
            tl.store(o_ptr, tl.sum(x, axis=0))
    """)
    text = ir_of(kernel, x_ptr="*float16", o_ptr="*float16", BLOCK=64)
    steps = [word for word in text.split() if word in ("cast", "reduce")]
    assert steps == ["cast", "reduce", "cast"]


def test_a_loop_over_descriptors_carries_the_accumulator_alone() -> None:
    kernel = kernel_of("""
        def product(a_ptr, b_ptr, c_ptr, M, N, K,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
            a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
            b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                left = a.load([0, k])
                acc = tl.dot(left, b.load([k, 0]), acc)
            c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
            c.store([0, 0], acc.to(c.dtype))
    """)
    half = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*float16")
    text = ir_of(kernel, BM=16, BN=16, BK=16, **half)
    assert "carry (%acc.1 = %acc) : (tile<16x16xf32>)" in text
    assert text.count("= dot ") == 1


def test_globals_and_module_attributes_are_dependencies() -> None:
    import math

    kernel = kernel_of(
        """
        SCALE = 3
        def scale(x_ptr, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * SCALE + math.pi)
        """,
        math=math,
    )
    found = dependencies_of(kernel, x_ptr="*float32", BLOCK=16)
    assert found["SCALE"] == 3
    assert found["pi"] == math.pi
    assert found["math"] is math
