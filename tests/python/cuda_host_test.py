"""The host's side of CUDA, on machines without a GPU: in processes whose driver is a stand-in.

The stand-in (tests/fake_cuda) runs no GPU code; it knows `add_kernel` by name. NVRTC is the real
one, so the kernels launched here are really compiled.
"""

import ctypes
import shutil
import sys
from pathlib import Path

import pytest

KERNEL = """
import numpy as np
import enceladus
import enceladus.language as tl

@enceladus.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
"""


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.fixture
def run(run_on_fake_cuda):
    return run_on_fake_cuda


needs_nvrtc = pytest.mark.skipif(
    not list(Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/lib/libnvrtc.so*"))
    and shutil.which("nvcc") is None,
    reason="no NVRTC here",
)


def test_importing_does_not_touch_the_driver(run):
    run("import enceladus; enceladus.zeros(3, device='cpu').tolist(); open('/dev/null')")
    with pytest.raises(FileNotFoundError):
        run.journal()


def test_cuda_comes_before_the_cpu(run):
    found = run("import enceladus; print(*enceladus.devices(), enceladus.current_device())")
    assert found.split()[0] == "cuda:0"
    assert found.split()[-1] == "cuda:0"
    assert "cpu" in found.split()


MESSAGES = """
import enceladus
try:
    enceladus.zeros(3, device="cuda:1")
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        pytest.param(
            {"LD_LIBRARY_PATH": ""},
            "there is no CUDA driver here: libcuda.so.1",
            marks=pytest.mark.skipif(has_driver(), reason="there is a driver"),
        ),
        ({"FAKE_CUDA_DEVICES": "0"}, "sees no GPU"),
        ({"FAKE_CUDA_VERSION": "11080"}, "too old: it serves CUDA 11.8, and Enceladus needs 12.0"),
        ({"FAKE_CUDA_FAIL": "cuInit=802"}, "cuInit answered CUDA error 802"),
        ({}, "there is: cuda:0, cpu"),
    ],
)
def test_a_device_that_is_not_there_is_refused_with_the_reason(run, settings, words):
    message = run(MESSAGES, **settings)
    assert "device `cuda:1` is not available here" in message
    assert words in message


def test_tensors_copy_between_host_and_device(run):
    out = run(
        """
        import numpy as np
        import enceladus

        array = np.arange(12, dtype=np.float32).reshape(3, 4)
        t = enceladus.from_numpy(array, device="cuda:0")
        array[:] = -1
        print(t.device, t.numpy().sum(), t[1:, ::2].tolist(), t.T.tolist()[1])
        copy = t.numpy()
        t.fill_(7)
        print(copy.sum(), t.numpy().sum())
        t[1:, ::2] = np.zeros((2, 2))
        print(t.tolist())
        u = t.clone()
        u[0] = 5
        print(u[0].tolist(), t[0].tolist(), u.to("int64").tolist()[1])
        print(enceladus.full((2,), 1.5, dtype="bfloat16", device="cuda:0").tolist())
        """
    )
    assert out.splitlines() == [
        "cuda:0 66.0 [[4.0, 6.0], [8.0, 10.0]] [1.0, 5.0, 9.0]",
        "66.0 84.0",
        "[[7.0, 7.0, 7.0, 7.0], [0.0, 7.0, 0.0, 7.0], [0.0, 7.0, 0.0, 7.0]]",
        "[5.0, 5.0, 5.0, 5.0] [7.0, 7.0, 7.0, 7.0] [0, 7, 0, 7]",
        "[1.5, 1.5]",
    ]


def test_random_numbers_are_those_of_the_cpu(run):
    out = run(
        """
        import enceladus
        found = []
        for device in ("cpu", "cuda:0"):
            enceladus.manual_seed(3)
            found.append(enceladus.randn(1000, dtype="float16", device=device).numpy())
        print((found[0] == found[1]).all())
        """
    )
    assert out.strip() == "True"


def test_other_libraries_see_a_device_pointer_in_the_default_stream(run):
    out = run(
        """
        import enceladus
        t = enceladus.zeros((2, 3), dtype="float16", device="cuda:0")
        shown = t[:, 1:].__cuda_array_interface__
        print(shown["shape"], shown["strides"], shown["typestr"], shown["stream"])
        print(shown["data"][0] == t.data_ptr() + 2, t.__dlpack_device__())
        t.__dlpack__(stream=77)
        back = enceladus.from_dlpack(t)
        print(back.device, back.data_ptr() == t.data_ptr())
        print(hasattr(enceladus.zeros(1, device="cpu"), "__cuda_array_interface__"))
        """
    )
    assert out.splitlines() == [
        "(2, 2) (6, 2) <f2 1",
        "True (2, 0)",
        "cuda:0 True",
        "False",
    ]
    assert "wait in stream 77" in run.journal()


@needs_nvrtc
def test_numpy_arrays_are_copied_and_only_the_written_one_comes_back(run):
    out = run(
        KERNEL
        + """
x, y, out = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
add_kernel[(4,)](x, y, out, 1000, BLOCK=256)
print(out[0], out[999])
"""
    )
    assert out.strip() == "1.0 1000.0"
    journal = run.journal()
    assert [line for line in journal if line.startswith("to host")] == ["to host 4000"]
    assert any(line.startswith("launch add_kernel grid 4 1 1 threads 128") for line in journal)


@needs_nvrtc
def test_tensor_launches_do_not_wait_and_the_cubin_is_kept_on_disk(run):
    text = (
        KERNEL
        + """
x = enceladus.from_numpy(np.ones(64, np.float32), device="cuda:0")
out = enceladus.empty_like(x)
compiled = add_kernel.warmup(x, x, out, 64, BLOCK=64)
before = len(open(__import__("os").environ["FAKE_CUDA_JOURNAL"]).readlines())
add_kernel[(1,)](x, x, out, 64, BLOCK=64)
lines = open(__import__("os").environ["FAKE_CUDA_JOURNAL"]).readlines()[before:]
print([line.split()[0] for line in lines], compiled.registers > 0)
print(compiled.spills, out.numpy().sum())
print("nvrtc" in compiled.timings, "__global__" in compiled.cuda)
"""
    )
    assert run(text).splitlines() == [
        "['attribute', 'launch'] True",
        "0 128.0",
        "True True",
    ]
    assert run(text).splitlines()[2] == "False True"  # from disk


@needs_nvrtc
def test_an_error_of_the_driver_is_a_cuda_error_with_the_kernels_name(run):
    out = run(
        KERNEL
        + """
x = enceladus.zeros(64, device="cuda:0")
add_kernel[(1,)](x, x, x, 64, BLOCK=64)
try:
    enceladus.synchronize()
except enceladus.CudaError as error:
    print(error)
try:
    x.numpy()
except enceladus.CudaError as error:
    print(error)
import os; os._exit(0)
""",
        FAKE_CUDA_FAULT="700",
    )
    first, second = out.splitlines()
    assert "behind kernel `add_kernel` answered CUDA_ERROR_ILLEGAL_ADDRESS" in first
    assert "context of this process is lost" in first
    assert "context of this process is lost" in second


def test_memory_that_is_not_there_is_a_memory_error_with_figures(run):
    out = run(
        """
        import enceladus
        try:
            enceladus.empty(1 << 30, device="cuda:0")
        except MemoryError as error:
            print(error)
        """
    )
    assert "cuda:0 has no memory for a tensor of shape (1073741824,), 4294967296 bytes" in out


def test_a_forked_child_is_told_that_cuda_is_gone(run):
    out = run(
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
        """
    )
    assert "this process was forked from one that used CUDA" in out
    assert out.splitlines()[-1] == "[0.0, 0.0, 0.0]"


@needs_nvrtc
def test_explain_shows_registers_and_how_many_programs_a_multiprocessor_holds(run):
    out = run(
        KERNEL
        + """
x = enceladus.zeros(64, device="cuda:0")
found = add_kernel.explain(x, x, x, 64, BLOCK=64).to_dict()
print(found["registers_per_thread"] > 0, found["spilled_bytes_per_thread"])
print(found["occupancy"])
print(found["roofline"])
"""
    )
    assert out.splitlines()[-3] == "True 0"
    assert "'programs_per_multiprocessor': 16, 'threads': '100 %'" in out.splitlines()[-2]
    # 2 transfers of 4096 bits at 2 GHz; 132 multiprocessors of 256 operations at 1 GHz.
    assert "'copy_gb_per_s': 2048.0, 'multiply_add_gflop_per_s': 33792.0" in out.splitlines()[-1]
    assert "not measured" in out.splitlines()[-1]


HAND_WRITTEN = """
import numpy as np
import enceladus
text = '''
extern "C" __global__ void add_kernel(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}
'''
kernel = enceladus.cuda_kernel(text, "add_kernel")
"""


@needs_nvrtc
def test_hand_written_kernels_take_arrays_and_numbers_by_their_declared_types(run):
    out = run(
        HAND_WRITTEN
        + """
x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
kernel[1, 128](x, x, out, 100)
print(out.sum())
for call in (
    lambda: kernel[1, 128](x, x, out),
    lambda: kernel[1, 128](x, x, out, 1.5),
    lambda: kernel[1, 2048](x, x, out, 100),
    lambda: enceladus.cuda_kernel(text, "other"),
):
    try:
        call()
    except (TypeError, ValueError) as error:
        print(error)
"""
    )
    lines = out.splitlines()
    assert lines[0] == "200.0"
    assert "takes 4 arguments (x, y, out, n), but 3 were given" in lines[1]
    assert "argument `n` of `add_kernel` is 1.5, but is declared int32" in lines[2]
    assert "CUDA takes 1 to 1024" in lines[3]
    assert "has no `__global__ void` function `other`" in lines[4]
