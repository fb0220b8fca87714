"""The device itself: many launches, memory, timing, faults, tuning."""

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus.testing import do_bench


@pytest.fixture(autouse=True)
def cuda():
    with enceladus.device("cuda:0"):
        yield


@enceladus.jit
def increment_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000])
def test_launches_run_in_order(count):
    x = enceladus.zeros(1000, dtype="int32")
    for _ in range(count):
        increment_kernel[(1,)](x, 1000, BLOCK=1024)
    assert (x.numpy() == count).all()


def test_memory_that_a_pending_launch_uses_outlives_its_tensor():
    for _ in range(50):
        x = enceladus.zeros(1 << 20, dtype="int32")
        increment_kernel[(1024,)](x, 1 << 20, BLOCK=1024)
        del x
        y = enceladus.zeros(1 << 20, dtype="int32")
    assert y.numpy().sum() == 0


def test_do_bench_sees_the_devices_time():
    x = enceladus.zeros(1 << 26, dtype="int32")
    launch = increment_kernel[(1 << 16,)]
    milliseconds = do_bench(lambda: launch(x, 1 << 26, BLOCK=1024))
    # 512 MiB of traffic: more than 5 TB/s or less than 0.5 would be a mistake of the clock.
    assert 0.1 < milliseconds < 1.1


def test_random_numbers_are_those_of_the_cpu():
    found = []
    for device in ("cpu", "cuda:0"):
        enceladus.manual_seed(11)
        found.append(enceladus.randn(100001, dtype="float32", device=device).numpy())
    np.testing.assert_array_equal(found[0], found[1])


def test_tuning_keeps_the_fastest_and_runs_an_in_place_kernel_once():
    configs = [enceladus.Config({"BLOCK": block}) for block in (256, 1024)]
    tuned = enceladus.autotune(configs=configs, key=["n"], cache_results=False)(increment_kernel)
    x = enceladus.zeros(1 << 20, dtype="int32")
    tuned[lambda meta: (enceladus.cdiv(1 << 20, meta["BLOCK"]),)](x, 1 << 20)
    assert (x.numpy() == 1).all()


FAULT = """
import enceladus, enceladus.language as tl

@enceladus.jit
def bad_kernel(x_ptr, far):
    tl.store(x_ptr + far, 1.0)

x = enceladus.zeros(16, device="cuda:0")
bad_kernel[(1,)](x, 1 << 40)
try:
    enceladus.synchronize("cuda:0")
except enceladus.CudaError as error:
    print(error)
import os; os._exit(0)
"""


def test_an_illegal_address_names_the_kernel_and_says_that_the_context_is_lost(tmp_path):
    script = tmp_path / "fault.py"
    script.write_text(textwrap.dedent(FAULT))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert "kernel `bad_kernel`" in done.stdout, done.stderr
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in done.stdout
    assert "context of this process is lost" in done.stdout


@enceladus.jit(debug=True)
def positive_kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(tl.load(x_ptr + offsets) > 0, "all are positive")


def test_a_failed_assertion_names_line_and_program_and_leaves_the_device_usable():
    x = enceladus.ones(256)
    positive_kernel[(4,)](x, BLOCK=64)
    enceladus.synchronize()
    x[150] = -1
    positive_kernel[(4,)](x, BLOCK=64)
    line = positive_kernel.fn.__code__.co_firstlineno + 3
    with pytest.raises(enceladus.DeviceAssertionError) as caught:
        enceladus.synchronize()
    message = str(caught.value)
    assert f"test_device.py:{line}" in message and "all are positive" in message, message
    assert "positive_kernel" in message and "program (2, 0, 0)" in message, message
    enceladus.synchronize()  # raised once
    increment_kernel[(1,)](x, 256, BLOCK=256)  # no context was lost
    assert x.numpy()[150] == 0
    x[150] = -1
    positive_kernel[(4,)](x, BLOCK=64)
    with pytest.raises(enceladus.DeviceAssertionError, match="program \\(2, 0, 0\\)"):
        x.numpy()


def test_a_failed_assertion_on_torch_tensors_is_raised_by_our_synchronization():
    torch = pytest.importorskip("torch")
    positive_kernel[(1,)](-torch.ones(64, device="cuda"), BLOCK=64)
    torch.cuda.synchronize()  # the context is whole
    with pytest.raises(enceladus.DeviceAssertionError, match="all are positive"):
        enceladus.synchronize()


def run_script(folder, text):
    """What a process prints that runs the text."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(text))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_printed_lines_are_there_behind_a_synchronization(tmp_path):
    out = run_script(
        tmp_path,
        """
        import os
        import enceladus, enceladus.language as tl

        @enceladus.jit
        def print_kernel(x_ptr):
            offsets = tl.arange(0, 4)
            tl.device_print("x", tl.load(x_ptr + offsets))
            tl.device_print("n", tl.program_id(0) + 7)

        x = enceladus.full((4,), 1.5, device="cuda:0")
        print_kernel[(2,)](x)
        enceladus.synchronize("cuda:0")
        os._exit(0)  # nothing is written at the end of the process
        """,
    )
    lines = out.splitlines()
    expected = [f"pid ({p}, 0, 0) idx ({i}) x: 1.500000" for p in range(2) for i in range(4)]
    assert sorted(line for line in lines if " x: " in line) == expected
    assert sum(" n: " in line for line in lines) == 2


def test_bursts_with_temporaries_run_in_order():
    x = enceladus.zeros(64, dtype="int32")
    for _ in range(3000):
        y = enceladus.zeros(64, dtype="int32")  # the one before is freed
        increment_kernel[(1,)](y, 64, BLOCK=64)
        increment_kernel[(1,)](x, 64, BLOCK=64)
    assert (x.numpy() == 3000).all() and (y.numpy() == 1).all()


def test_two_threads_may_launch_bursts_at_once():
    def work(results):
        x = enceladus.zeros(64, dtype="int32", device="cuda:0")
        for turn in range(2000):
            increment_kernel[(1,)](x, 64, BLOCK=64)
            if turn % 100 == 0:
                enceladus.synchronize("cuda:0")
        results.append(int(x.numpy().sum()))

    results = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [64 * 2000] * 2


@enceladus.jit
def mark_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, ((offsets & 63) + (offsets >> 31)).to(tl.int8), mask=offsets < n)


def test_arrays_of_more_than_2_to_the_31_elements_are_reached_to_their_end():
    size = (1 << 31) + 5000
    x = enceladus.zeros(size, dtype="int8")
    mark_kernel[(enceladus.cdiv(size, 4096),)](x, size, BLOCK=4096)
    for start in (0, (1 << 31) - 2000, size - 4000):
        at = np.arange(start, start + 4000, dtype=np.int64)
        expected = (at & 63) + (at >> 31)
        np.testing.assert_array_equal(x[start : start + 4000].numpy(), expected)


@enceladus.jit
def two_tile_product_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, 64])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [64, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, 64):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total.to(tl.float16))


@pytest.mark.parametrize("rows, depth", [(128, 0), (0, 128), (128, 128)])
def test_descriptors_of_arrays_without_elements_load_nothing(rows, depth):
    a = enceladus.ones((rows, depth), dtype="float16")
    b = enceladus.ones((depth, 256), dtype="float16")
    c = enceladus.ones((rows, 256), dtype="float16")
    two_tile_product_kernel[(1, 1)](a, b, c, rows, 256, depth, BM=128, BN=256, num_warps=8)
    np.testing.assert_array_equal(c.numpy(), np.full((rows, 256), depth, np.float16))


def test_memory_that_is_not_there_is_a_memory_error_and_the_device_goes_on():
    with pytest.raises(MemoryError, match="cuda:0"):
        enceladus.empty(1 << 42, dtype="int8")
    x = enceladus.zeros(64, dtype="int32")
    increment_kernel[(1,)](x, 64, BLOCK=64)
    assert x.numpy().sum() == 64


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="`cuda:77` is not available here"):
        enceladus.zeros(3, device="cuda:77")


def test_more_shared_memory_than_the_device_has_is_refused():
    text = 'extern "C" __global__ void big(float* x) { x[0] = 1; }'
    kernel = enceladus.cuda_kernel(text, "big", shared_bytes=300000)
    with pytest.raises(enceladus.CudaError, match="300000 bytes of shared memory"):
        kernel[1, 32](enceladus.zeros(4))


def test_a_forked_child_is_told_that_cuda_is_gone(tmp_path):
    out = run_script(
        tmp_path,
        """
        import os
        import enceladus
        t = enceladus.zeros(3, device="cuda:0")
        if os.fork() == 0:
            try:
                enceladus.zeros(3, device="cuda:0")
            except enceladus.CudaError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
        print(t.tolist())
        """,
    )
    assert "this process was forked from one that used CUDA" in out
    assert out.splitlines()[-1] == "[0.0, 0.0, 0.0]"


@enceladus.jit
def product_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    m, n = tl.program_id(1) * BLOCK, tl.program_id(0) * BLOCK
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK, BLOCK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK, BLOCK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK, BLOCK])
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
    c.store([m, n], acc.to(c.dtype))


@pytest.mark.parametrize("size", [512, 509])  # rows that TMA can describe, and rows it cannot
def test_descriptors_of_any_row_stride_give_the_product(size):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((size, size)).astype(np.float16) for _ in range(2))
    x, y = enceladus.from_numpy(a, device="cuda:0"), enceladus.from_numpy(b, device="cuda:0")
    c = enceladus.zeros((size, size), dtype="float16")
    blocks = enceladus.cdiv(size, 64)
    product_kernel[(blocks, blocks)](x, y, c, size, size, size, BLOCK=64)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(c.numpy(), expected, rtol=2e-3, atol=2e-3 * np.sqrt(size))
