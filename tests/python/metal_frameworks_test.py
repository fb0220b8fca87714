"""PyTorch on mps and MLX as arguments, by stand-ins of both (metal_frameworks.py).

Neither has run on Apple hardware: what is tested is what we do with what they document.
"""

import logging

import ml_dtypes
import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from metal_frameworks import FakeMps, install_mlx

pytestmark = pytest.mark.skipif(
    "metal-sim" not in enceladus.devices(), reason="the simulator is for Linux on x86-64"
)


@pytest.fixture(autouse=True)
def on_the_simulator():
    with enceladus.device("metal-sim"):
        yield


def add(x_ptr, y_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + factor * y, mask=mask)


def add_one(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


def show(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("x", x)
    tl.store(x_ptr + tl.arange(0, BLOCK), x + 1)


def halves_of(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=offsets < BLOCK // 2)


def fresh(function):
    """A kernel of its own, which has warned of nothing yet."""
    return enceladus.jit(function)


X = np.arange(100, dtype=np.float32)
Y = np.arange(100, dtype=np.float32) * 7
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
SCALE = (
    HEAD
    + """
kernel void scale(constant float& factor [[buffer(1)]], device float* x [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) { x[i] *= factor; }
"""
)

# --- PyTorch on mps ---


@pytest.fixture
def mps(monkeypatch):
    torch = pytest.importorskip("torch")
    fake = FakeMps(torch)
    monkeypatch.setattr(torch.mps, "compile_shader", fake.compile_shader)
    monkeypatch.setattr(torch.mps, "synchronize", fake.synchronize)
    return fake


def test_a_launch_on_mps_tensors_is_queued_on_torchs_stream(mps, caplog):
    kernel = fresh(add)
    x, y, out = mps.tensor(X), mps.tensor(Y), mps.tensor(np.zeros_like(X))
    for _ in range(3):
        kernel[(2,)](x, y, out, 100, 2.0, BLOCK=64)
    assert len(mps.pending) == 3 and mps.compiled == 1 and mps.synchronized == 0
    mps.synchronize()
    np.testing.assert_array_equal(out._home.numpy(), X + 2 * Y)
    assert caplog.records == []


def test_views_of_mps_tensors_begin_where_they_begin(mps):
    x = mps.tensor(np.zeros(100, np.int32))
    fresh(add_one)[(1,)](x[37:], 5, BLOCK=8)
    mps.synchronize()
    assert np.flatnonzero(x._home.numpy()).tolist() == [37, 38, 39, 40, 41]


def test_beside_other_arrays_the_launch_waits_and_says_why_once(mps, caplog):
    kernel = fresh(add)
    x, out = mps.tensor(X), mps.tensor(np.zeros_like(X))
    with caplog.at_level(logging.WARNING, logger="enceladus"):
        for _ in range(2):
            kernel[(2,)](x, Y, out[:], 100, 1.0, BLOCK=64)
    np.testing.assert_array_equal(out._home.numpy(), X + Y)
    assert mps.synchronized == 2 and not mps.pending
    (record,) = caplog.records
    assert "kernel `add` does not run on PyTorch's mps stream" in record.getMessage()
    assert "buffer 1 is a numpy.ndarray on" in record.getMessage()


def test_on_our_own_queue_views_begin_where_they_begin(mps):
    x, y = mps.tensor(X), mps.tensor(np.zeros_like(X))
    fresh(add)[(1,)](x[10:], Y, y[20:], 30, 1.0, BLOCK=32)
    wanted = np.zeros_like(X)
    wanted[20:50] = X[10:40] + Y[:30]
    np.testing.assert_array_equal(y._home.numpy(), wanted)


def test_a_kernel_that_prints_runs_on_our_queue(mps, caplog, capsys):
    x = mps.tensor(np.array([5, 6], np.int32))
    fresh(show)[(1,)](x, BLOCK=2)
    assert "x: 5" in capsys.readouterr().out
    assert x._home.tolist() == [6, 7]
    assert "it prints" in caplog.text


def test_a_failed_assertion_of_a_launch_on_mps_tensors_is_raised(mps, caplog):
    @enceladus.jit(debug=True)
    def check(x_ptr, BLOCK: tl.constexpr):
        tl.device_assert(tl.load(x_ptr + tl.arange(0, BLOCK)) > 0, "positive")

    with pytest.raises(enceladus.DeviceAssertionError, match="positive"):
        check[(1,)](mps.tensor(np.array([1, 0], np.int32)), BLOCK=2)
    assert "it has assertions" in caplog.text


def test_a_pytorch_without_compile_shader_is_waited_for(mps, monkeypatch, caplog):
    torch = pytest.importorskip("torch")
    monkeypatch.delattr(torch.mps, "compile_shader")
    x = mps.tensor(np.zeros(4, np.int32))
    fresh(add_one)[(1,)](x, 4, BLOCK=4)
    assert x._home.tolist() == [1] * 4
    assert "no torch.mps.compile_shader" in caplog.text


def test_text_that_pytorch_refuses_runs_on_our_queue(mps, monkeypatch, caplog):
    torch = pytest.importorskip("torch")

    def refuse(source):
        raise SyntaxError("program_source:7:1: error: no such thing\nmore")

    monkeypatch.setattr(torch.mps, "compile_shader", refuse)
    x = mps.tensor(np.zeros(4, np.int32))
    fresh(add_one)[(1,)](x, 4, BLOCK=4)
    assert x._home.tolist() == [1] * 4
    assert "PyTorch does not compile its text: program_source:7:1: error: no such thing" in (
        caplog.text
    )


def test_hand_written_kernels_run_on_torchs_stream(mps):
    scale = enceladus.metal_kernel(SCALE, "scale")
    x = mps.tensor(X)
    scale[4, 25](3.0, x)
    assert len(mps.pending) == 1
    mps.pending[:] = []  # PyTorch passes the number to the text as it stands: seen, not run


def test_overlapping_mps_tensors_are_known_to_overlap(mps):
    x = mps.tensor(np.arange(65, dtype=np.float32))
    kernel = fresh(add)
    kernel[(1,)](x[:64], x[:64], x[1:], 64, 0.0, BLOCK=64)
    apart = kernel.warmup(x, x[:64], mps.tensor(X), 64, 0.0, BLOCK=64)
    together = kernel.warmup(x, x[:64], x[1:], 64, 0.0, BLOCK=64)
    assert "arrays_disjoint" in apart.ir and "arrays_disjoint" not in together.ir


# --- MLX ---


@pytest.fixture
def mx(monkeypatch):
    return install_mlx(monkeypatch)


@pytest.fixture
def lazy(mx):
    enceladus.lazy_mlx(True)
    yield mx
    enceladus.lazy_mlx(False)


def test_mlx_arrays_are_evaluated_and_waited_for(mx):
    x, y = mx.array(X), mx.concatenate([mx.array(Y[:50]), mx.array(Y[50:])])
    out = mx.zeros((100,), mx.float32)
    fresh(add)[(2,)](x, y, out, 100, 2.0, BLOCK=64)
    assert out.is_evaluated and mx.launches == []
    np.testing.assert_array_equal(out.evaluated(), X + 2 * Y)


def test_mlx_arrays_of_bfloat16_share_their_memory(mx):
    x = mx.array(X.astype(ml_dtypes.bfloat16))
    fresh(add_one)[(1,)](x, 100, BLOCK=128)
    np.testing.assert_array_equal(x.evaluated(), (X + 1).astype(ml_dtypes.bfloat16))


def test_an_mlx_array_in_another_order_is_read_in_its_own(mx):
    x = mx.transpose(mx.array(np.arange(6, dtype=np.float32).reshape(2, 3)))
    out = mx.zeros((6,), mx.float32)
    assert enceladus.element_strides(x) == (2, 1)
    fresh(add)[(1,)](x, x, out, 6, 0.0, BLOCK=8)
    assert out.tolist() == [0, 3, 1, 4, 2, 5]


def test_a_broadcast_mlx_output_is_an_error(mx):
    out = mx.broadcast_to(mx.zeros((1,), mx.float32), (100,))
    with pytest.raises(ValueError, match="`out_ptr` of `add` is a broadcast MLX array"):
        fresh(add)[(2,)](mx.array(X), mx.array(Y), out, 100, 1.0, BLOCK=64)
    turned = mx.transpose(mx.array(np.zeros((2, 3), np.float32)))
    with pytest.raises(ValueError, match="`out_ptr` of `add` is an MLX array that is a view in"):
        fresh(add)[(1,)](mx.array(X), mx.array(Y), turned, 6, 1.0, BLOCK=8)
    scale = enceladus.metal_kernel(SCALE, "scale")
    with pytest.raises(ValueError, match="`x` of `scale` is a broadcast MLX array"):
        scale[4, 25](3.0, out)


def test_a_broadcast_mlx_input_is_read(mx):
    out = mx.zeros((8,), mx.float32)
    x = mx.broadcast_to(mx.array(np.float32([3])), (8,))
    fresh(add)[(1,)](x, x, out, 8, 1.0, BLOCK=8)
    assert out.tolist() == [6] * 8


def test_a_lazy_launch_is_a_node_of_mlxs_graph(lazy, caplog):
    kernel = fresh(add)
    x, y, out = lazy.array(X), lazy.array(Y), lazy.zeros((100,), lazy.float32)
    for _ in range(2):
        kernel[(2,)](x, y, out, 100, 2.0, BLOCK=64)
        assert not out.is_evaluated
    assert len(lazy.launches) == 2 and len(set(lazy.launches)) == 1
    after = lazy.concatenate([out, x])
    assert not out.is_evaluated
    np.testing.assert_array_equal(after.evaluated()[:100], X + 2 * Y)
    assert caplog.records == []


def test_lazy_launches_depend_on_each_other(lazy):
    kernel = fresh(add)
    x, out = lazy.array(X), lazy.zeros((100,), lazy.float32)
    kernel[(2,)](x, x, out, 100, 1.0, BLOCK=64)
    again = lazy.zeros((100,), lazy.float32)
    kernel[(2,)](out, x, again, 100, 1.0, BLOCK=64)
    np.testing.assert_array_equal(again.evaluated(), 3 * X)


def test_small_inputs_of_a_lazy_launch_are_device_memory(lazy):
    out = lazy.zeros((4,), lazy.float32)
    x = lazy.array(np.float32([1, 2, 3, 4]))
    fresh(add)[(1,)](x, x, out, 4, 1.0, BLOCK=4)
    assert not out.is_evaluated
    assert out.tolist() == [2, 4, 6, 8]


def test_what_a_lazy_launch_does_not_store_is_zero(lazy):
    out = lazy.array(np.full(8, 9, np.float32))
    fresh(halves_of)[(1,)](lazy.array(X), out, BLOCK=8)
    assert out.tolist() == [0, 1, 2, 3, 0, 0, 0, 0]


def test_a_kernel_that_reads_what_it_writes_is_not_lazy_and_says_so_once(lazy, caplog):
    kernel, x = fresh(add_one), lazy.array(X)
    for _ in range(2):
        kernel[(1,)](x, 100, BLOCK=128)
    assert x.is_evaluated and lazy.launches == []
    np.testing.assert_array_equal(x.evaluated(), X + 2)
    (record,) = caplog.records
    assert "kernel `add_one` does not join MLX's graph" in record.getMessage()
    assert "it reads `x_ptr` and writes it" in record.getMessage()


def test_beside_other_arrays_a_launch_is_not_lazy(lazy, caplog):
    out = lazy.zeros((100,), lazy.float32)
    fresh(add)[(2,)](lazy.array(X), Y, out, 100, 1.0, BLOCK=64)
    assert out.is_evaluated
    np.testing.assert_array_equal(out.evaluated(), X + Y)
    assert "`y_ptr` is no MLX array" in caplog.text


def test_the_interpreter_takes_mlx_arrays(mx):
    out = mx.zeros((100,), mx.float32)
    enceladus.jit(interpret=True)(add)[(2,)](mx.array(X), mx.array(Y), out, 100, 2.0, BLOCK=64)
    np.testing.assert_array_equal(out.evaluated(), X + 2 * Y)


def test_helpers_take_mlx_arrays(mx):
    x = mx.array(np.zeros((2, 3), np.float16))
    assert enceladus.element_dtype(x) == "float16"
    assert enceladus.element_strides(x) == (3, 1)
    made = enceladus.new_zeros(x, (4,), dtype="float32")
    assert isinstance(made, mx.array) and made.dtype is mx.float32 and made.tolist() == [0] * 4
    assert enceladus.new_empty(x).shape == (2, 3)


def test_importing_enceladus_imports_neither(tmp_path):
    import subprocess
    import sys

    code = "import sys, enceladus; print([m for m in ('torch', 'mlx', 'jax') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
