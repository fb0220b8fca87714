"""What a Metal device refuses, and how: each with the place, the sizes and a way out.

Beside these: errors in hand-written text (metal_kernel_test.py), tiles that no thread can hold
(metal_compile_test.py), float64 and more than 31 buffers (metal_sim_test.py), more than 4 KiB of
scalars and a GPU before family 7 (tests/unit/runtime_metal), broadcast MLX arrays
(metal_frameworks_test.py), captures without the variable (metal_memory_test.py).
"""

import ctypes

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from needs import needs_simulator

pytestmark = needs_simulator

if "metal-sim" in enceladus.devices():
    from enceladus.testing._simulator import library

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


@pytest.fixture(autouse=True)
def on_the_simulator():
    with enceladus.device("metal-sim"):
        yield


@enceladus.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


@enceladus.jit
def multiply(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr, INNER: tl.constexpr):
    rows, inner = tl.arange(0, SIZE), tl.arange(0, INNER)
    a = tl.load(a_ptr + rows[:, None] * INNER + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * SIZE + rows[None, :])
    c = tl.dot(a, b)  # both operands are staged
    tl.store(c_ptr + rows[:, None] * SIZE + rows[None, :], c)


def test_too_much_threadgroup_memory_names_line_and_sizes():
    inputs, output = np.dtype("int8"), np.dtype("int32")
    with pytest.raises(enceladus.CompilationError) as caught:
        multiply.warmup(inputs, inputs, output, SIZE=128, INNER=256, num_warps=8)
    line = multiply.first_line + 5
    text = str(caught.value)
    assert f"metal_bad_input_test.py:{line}:" in text
    assert "this needs 65536 bytes of shared memory, the target has 32768: " in text
    assert f"32768 bytes (line {line}), 32768 bytes (line {line})" in text
    assert "hint: use smaller blocks" in text


def test_too_much_threadgroup_memory_in_hand_written_text_names_both_sizes():
    kernel = enceladus.metal_kernel(
        HEAD
        + "kernel void big(device float* x, uint i [[thread_position_in_grid]]) {\n"
        + "  threadgroup float shared[16384];\n  shared[i] = i;\n  x[i] = shared[i];\n}\n",
        "big",
    )
    with pytest.raises(enceladus.MetalError, match="`big`") as caught:
        kernel[1, 32](np.zeros(32, np.float32))
    assert "65536" in str(caught.value) and "32768" in str(caught.value)


def test_grids_above_the_limit_name_axis_and_limit():
    x = enceladus.zeros(64, dtype="int32")
    with pytest.raises(ValueError, match=r"grid\[1\] of `add_one` is 2147483648, more than"):
        add_one[(1, 2**31)](x, 64, BLOCK=64)
    scale = enceladus.metal_kernel(HEAD + "kernel void f(device int* x) { x[0] = 1; }\n", "f")
    with pytest.raises(ValueError, match="extents are from 0 to 2147483647"):
        scale[2**31, 1](x)
    with pytest.raises(ValueError, match="2048 threads a program; Metal takes 1 to 1024"):
        scale[1, 2048](x)


def test_a_torch_tensor_on_the_cpu_is_to_go_to_mps():
    torch = pytest.importorskip("torch")
    x = torch.zeros(64, dtype=torch.int32)
    with pytest.raises(ValueError, match=r"`x_ptr` of `add_one` is a torch .* x\.to\(\"mps\"\)"):
        add_one[(1,)](x, 64, BLOCK=64)
    f = enceladus.metal_kernel(HEAD + "kernel void f(device int* x) { x[0] = 1; }\n", "f")
    with pytest.raises(ValueError, match=r"`x` of `f` is a torch tensor on the CPU.*\(\"mps\"\)"):
        f[1, 1](x)


def test_printing_on_a_system_without_shader_logs_is_refused_at_the_kernel():
    @enceladus.jit
    def show(x_ptr, BLOCK: tl.constexpr):
        tl.device_print("x", tl.load(x_ptr + tl.arange(0, BLOCK)))

    x = enceladus.zeros(4, dtype="int32")
    library().call("set_has_logs", ctypes.c_int32(0))
    try:
        with pytest.raises(enceladus.MetalError, match="`show`: tl.device_print needs .* macOS 15"):
            show[(1,)](x, BLOCK=4)
    finally:
        library().call("set_has_logs", ctypes.c_int32(1))
    show[(1,)](x, BLOCK=4)
    enceladus.synchronize()


def test_launches_that_print_share_no_command_buffer(capsys):
    @enceladus.jit
    def show(x_ptr, BLOCK: tl.constexpr):
        tl.device_print("x", tl.load(x_ptr + tl.arange(0, BLOCK)))

    x = enceladus.zeros(2, dtype="int32")
    show[(1,)](x, BLOCK=2)
    enceladus.synchronize()
    library().call("reset_calls")
    for _ in range(5):
        show[(1,)](x, BLOCK=2)
    enceladus.synchronize()
    assert library().read("calls")["-[MTLCommandBuffer commit]"]["calls"] == 5
    assert capsys.readouterr().out.count("x: 0") == 12
