"""What CUDA makes of bad input, on machines without a GPU: the driver is the stand-in of conftest.

Drivers that are missing or old, and illegal addresses: see cuda_host_test.
"""

import re

import pytest

from cuda_host_test import HAND_WRITTEN, KERNEL, needs_nvrtc


@pytest.fixture
def run(run_on_fake_cuda):
    return run_on_fake_cuda


def test_a_gpu_too_old_for_our_code_is_left_out_with_the_reason(run):
    out = run(
        """
        import enceladus
        print(*enceladus.devices())
        try:
            enceladus.zeros(3, device="cuda:0")
        except ValueError as error:
            print(error)
        """,
        FAKE_CUDA_CAPABILITY="75",
    )
    first, second = out.splitlines()
    assert "cuda" not in first
    assert "cuda:0 is a GPU of sm_75, and sm_80 or newer is needed" in second


@needs_nvrtc
def test_a_gpu_that_nvrtc_does_not_know_is_a_cuda_error_with_what_nvrtc_says(run):
    out = run(
        KERNEL
        + """
x = enceladus.zeros(64, device="cuda:0")
try:
    add_kernel[(1,)](x, x, x, 64, BLOCK=64)
except enceladus.CudaError as error:
    print(error)
""",
        FAKE_CUDA_CAPABILITY="999",
    )
    assert "NVRTC refused the text of kernel `add_kernel`" in out
    assert "gpu-architecture" in out


def test_without_nvrtc_compiling_says_where_it_comes_from(run):
    out = run(
        """
        from enceladus import _libraries
        _libraries.cuda_folders = lambda: []
        """
        + KERNEL.replace("\n", "\n        ")
        + """
        x = enceladus.zeros(64, device="cuda:0")
        try:
            add_kernel[(1,)](x, x, x, 64, BLOCK=64)
            print("there is an NVRTC in the system's folders")
        except enceladus.CudaError as error:
            print(error)
        """
    )
    if "system's folders" in out:
        pytest.skip("NVRTC is installed where the loader finds it")
    assert "needs NVRTC (libnvrtc.so.13 or .12), which is not here" in out
    assert "pip install nvidia-cuda-nvrtc" in out


@needs_nvrtc
def test_a_cubin_of_another_architecture_is_refused_with_the_kernels_name(run):
    out = run(
        KERNEL
        + """
x = enceladus.zeros(64, device="cuda:0")
try:
    add_kernel[(1,)](x, x, x, 64, BLOCK=64)
except enceladus.CudaError as error:
    print(error)
""",
        FAKE_CUDA_FAIL="cuModuleLoadData=209",
    )
    assert "cuModuleLoadData for kernel `add_kernel` answered CUDA error 209" in out


@needs_nvrtc
def test_numpy_arrays_that_do_not_fit_the_device_are_a_memory_error_with_figures(run):
    out = run(
        KERNEL
        + """
x = np.zeros(1 << 20, np.float32)
try:
    add_kernel[(1,)](x, x, x, 64, BLOCK=64)
except MemoryError as error:
    print(error)
small = np.ones(64, np.float32)
add_kernel[(1,)](small, small, small, 64, BLOCK=64)
print(small.sum())
""",
        FAKE_CUDA_MEMORY="1000000",
    )
    first, second = out.splitlines()
    assert re.fullmatch(r"cuda:0 has no 41943\d\d bytes left: 1000000 of 1000000 are free", first)
    assert second == "128.0"


@needs_nvrtc
def test_tensors_on_two_devices_are_refused_with_where_each_is(run):
    out = run(
        KERNEL
        + """
x, y = enceladus.zeros(64, device="cuda:0"), enceladus.zeros(64, device="cuda:1")
host = enceladus.zeros(64, device="cpu")
for other in (y, host):
    try:
        add_kernel[(1,)](x, other, x, 64, BLOCK=64)
    except ValueError as error:
        print(error)
""",
        FAKE_CUDA_DEVICES="2",
    )
    one, other = out.splitlines()
    assert "`x_ptr` is on cuda:0, `y_ptr` is on cuda:1" in one
    assert "`x_ptr` is on cuda:0, `y_ptr` is on cpu" in other


@needs_nvrtc
def test_memory_of_the_host_is_copied_or_refused_and_never_given_to_the_device(run):
    out = run(
        HAND_WRITTEN
        + """
x = enceladus.from_numpy(np.ones(100, np.float32), device="cuda:0")
host = np.ones(100, np.float32)
kernel[1, 128](x, host, x, 100)  # copied
print(x.numpy().sum())
for wrong in (host.ctypes.data, enceladus.zeros(100, device="cpu"), [1.0]):
    try:
        kernel[1, 128](x, wrong, x, 100)
    except (TypeError, ValueError) as error:
        print(error)
"""
    )
    lines = out.splitlines()
    assert lines[0] == "200.0"
    assert "argument `y` of `add_kernel` is" in lines[1] and "not an array" in lines[1]
    assert "argument `y` of `add_kernel` is on cpu, but an earlier one is on cuda:0" in lines[2]
    assert "not an array" in lines[3]
    assert any(line == "to device 400" for line in run.journal())


@needs_nvrtc
def test_more_shared_memory_than_the_device_has_is_refused_with_both_figures(run):
    out = run(
        HAND_WRITTEN
        + """
x = enceladus.zeros(100, device="cuda:0")
large = enceladus.cuda_kernel(text, "add_kernel", shared_bytes=300000)
try:
    large[1, 128](x, x, x, 100)
except enceladus.CudaError as error:
    print(error)
"""
    )
    assert "needs 300000 bytes of shared memory, but cuda:0 has 232448" in out


@needs_nvrtc
def test_arrays_without_elements_and_empty_grids_are_no_error(run):
    out = run(
        KERNEL
        + """
empty = enceladus.empty(0, device="cuda:0")
add_kernel[(1,)](empty, empty, empty, 0, BLOCK=64)
add_kernel[(0,)](empty, empty, empty, 0, BLOCK=64)
nothing = np.zeros(0, np.float32)
add_kernel[(1,)](nothing, nothing, nothing, 0, BLOCK=64)
print(empty.numpy().shape, empty.clone().tolist(), empty.fill_(3).tolist())
print(enceladus.randn(0, device="cuda:0").shape, enceladus.zeros((0, 3), device="cuda:0").tolist())
"""
    )
    assert out.splitlines() == ["(0,) [] []", "(0,) []"]
    assert len([line for line in run.journal() if line.startswith("launch")]) == 2


@needs_nvrtc
def test_two_threads_may_launch_and_wait_at_once(run):
    out = run(
        KERNEL
        + """
import threading

def work(start, results):
    x = enceladus.full((64,), start, device="cuda:0")
    one = enceladus.ones(64, device="cuda:0")
    for turn in range(300):
        add_kernel[(1,)](x, one, x, 64, BLOCK=64)
        if turn % 50 == 0:
            enceladus.synchronize("cuda:0")
    results.append(float(x.numpy().sum()))

results = []
threads = [threading.Thread(target=work, args=(start, results)) for start in (0.0, 1000.0)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results))
"""
    )
    assert out.strip() == str([64 * 300.0, 64 * 1300.0])


@needs_nvrtc
def test_work_of_other_libraries_is_in_order_with_launches(run):
    """Launches on memory whose address was given away are in the queue when they return."""
    out = run(
        KERNEL
        + """
import ctypes
x = enceladus.zeros(64, device="cuda:0")
one = enceladus.ones(64, device="cuda:0")
seen = ctypes.cast(x.data_ptr(), ctypes.POINTER(ctypes.c_float))  # the stand-in's memory is ours
for turn in range(1, 101):
    add_kernel[(1,)](x, one, x, 64, BLOCK=64)
    assert seen[0] == turn, (seen[0], turn)
y = enceladus.zeros(64, device="cuda:0")
for turn in range(100):
    add_kernel[(1,)](y, one, y, 64, BLOCK=64)
print(ctypes.cast(y.__cuda_array_interface__["data"][0], ctypes.POINTER(ctypes.c_float))[5])
"""
    )
    assert out.strip() == "100.0"


PRODUCT = """
import enceladus
import enceladus.language as tl

@enceladus.jit
def product_kernel(a_ptr, b_ptr, c_ptr, M, N, K):
    m, n = tl.program_id(1) * 128, tl.program_id(0) * 256
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [128, 64])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [256, 64])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [128, 256])
    acc = tl.zeros((128, 256), dtype=tl.float32)
    for k in range(0, K, 64):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(c.dtype))
"""


@needs_nvrtc
@pytest.mark.parametrize(
    ("n", "k", "start", "engines", "reason"),
    [
        (256, 256, 0, ("wgmma", "TMA ring", "TMA ring", "TMA"), ""),
        (256, 255, 0, ("mma",), "a row's stride is not known to be a multiple of 16 bytes"),
        (255, 256, 0, ("wgmma", "TMA ring", "TMA ring"), "a row's stride is not known"),
        (256, 256, 1, ("mma",), "the array's address is not a multiple of 16 bytes"),
    ],
    ids=["all aligned", "operands' rows", "rows of the result", "addresses"],
)
def test_what_tensor_maps_cannot_describe_goes_without_and_explain_says_why(
    run, n, k, start, engines, reason
):
    out = run(
        PRODUCT
        + f"""
def made(size):
    return enceladus.zeros(size + {start}, dtype="float16", device="cuda:0")[{start}:]

arguments = made(256 * {k}), made({n} * {k}), made(256 * {n}), 256, {n}, {k}
shown = product_kernel.explain(*arguments, num_warps=8).to_dict()
(dot,) = shown["dots"]
print(dot["backend"], *(access["by"] for access in shown["memory"] if "by" in access), sep="|")
print(dot.get("not by wgmma", ""), *(access.get("not by TMA", "") for access in shown["memory"]))
product_kernel[(1, 2)](*arguments, num_warps=8)
"""
    )
    *report, taken, reasons = out.splitlines()
    assert tuple(taken.split("|")) == engines
    assert reason in reasons and bool(reasons.strip()) == bool(reason)
    assert not reason or any(reason in line for line in report)
    encoded = [line for line in run.journal() if line.startswith("encode")]
    assert len(encoded) == sum("TMA" in engine for engine in engines)
    assert any(line.startswith("launch product_kernel") for line in run.journal())


@needs_nvrtc
def test_hand_written_kernels_are_held_to_the_devices_limits(run):
    out = run(
        HAND_WRITTEN
        + """
x = enceladus.zeros(100, device="cuda:0")
for call in (
    lambda: kernel[(1, 65536), 128](x, x, x, 100),
    lambda: enceladus.cuda_kernel(text, "add_kernel", shared_bytes=-1),
    lambda: enceladus.cuda_kernel(text, "add_kernel", shared_bytes=1 << 31),
):
    try:
        call()
    except ValueError as error:
        print(error)
"""
    )
    grid, negative, large = out.splitlines()
    assert "grid[1] of `add_kernel` is 65536, more than the 65535 that cuda:0 takes" in grid
    assert "shared_bytes=-1 for `add_kernel`: from 0 to 2147483647" in negative
    assert "shared_bytes=2147483648" in large


@needs_nvrtc
def test_arrays_of_devices_that_are_not_there_are_refused_by_name(run):
    out = run(
        KERNEL
        + """
class Far:
    def __dlpack_device__(self):
        return (2, 5)
    def __dlpack__(self, **keywords):
        raise AssertionError("asked for its memory")

x = enceladus.zeros(64, device="cuda:0")
for call in (
    lambda: add_kernel[(1,)](x, Far(), x, 64, BLOCK=64),
    lambda: enceladus.from_dlpack(Far()),
):
    try:
        call()
    except ValueError as error:
        print(error)
"""
    )
    launch, imported = out.splitlines()
    assert launch.startswith("argument `y_ptr` of `add_kernel` lies on CUDA device 5: device")
    assert imported.startswith("the array lies on CUDA device 5")
    assert "`cuda:5` is not available here; there is: cuda:0, cpu" in launch


def test_dlpack_streams_are_handles_and_wait_for_a_copy_that_is_asked_for(run):
    out = run(
        """
        import enceladus
        t = enceladus.ones(4, device="cuda:0")
        for stream in (0, -2, "a"):
            try:
                t.__dlpack__(stream=stream)
            except ValueError as error:
                print(error)
        t.__dlpack__(stream=77, copy=True)
        """
    )
    assert out.splitlines() == [
        f"stream={stream!r} for DLPack: a stream's handle, None or -1" for stream in (0, -2, "a")
    ]
    journal = run.journal()
    assert journal.index("within 16") < journal.index("wait in stream 77")


@needs_nvrtc
def test_a_program_that_was_told_of_its_lost_context_ends_without_being_told_again(run):
    told = (
        KERNEL
        + """
import sys
x = enceladus.zeros(64, device="cuda:0")
add_kernel[(1,)](x, x, x, 64, BLOCK=64)
try:
    enceladus.synchronize()
except enceladus.CudaError as error:
    print(error)
sys.stderr = sys.stdout
"""
    )
    assert len(run(told, FAKE_CUDA_FAULT="700").splitlines()) == 1
    untold = told.replace("enceladus.synchronize()", "pass")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in run(untold, FAKE_CUDA_FAULT="700")


@needs_nvrtc
@pytest.mark.parametrize("count", [1, 100])
def test_a_launch_that_the_driver_refuses_is_an_error_and_the_next_one_runs(run, count):
    out = run(
        KERNEL
        + f"""
import os
x, one = (enceladus.full((64,), value, device="cuda:0") for value in (0.0, 1.0))
os.environ["FAKE_CUDA_FAIL"] = "cuLaunchKernel=701"
try:
    for _ in range({count}):
        add_kernel[(1,)](x, one, x, 64, BLOCK=64)
    enceladus.synchronize()
except enceladus.CudaError as error:
    print(error)
del os.environ["FAKE_CUDA_FAIL"]
enceladus.synchronize()
add_kernel[(1,)](x, one, x, 64, BLOCK=64)
print(x.numpy().sum())
"""
    )
    refused, total = out.splitlines()
    assert "cuLaunchKernel for kernel `add_kernel` answered" in refused
    assert "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" in refused
    assert total == "64.0"
