"""PyTorch, CuPy and JAX arrays on the GPU: streams, graphs, shared memory."""

import threading

import numpy as np
import pytest

import enceladus
import enceladus.language as tl

torch = pytest.importorskip("torch")


@enceladus.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


def scale(x, out, factor):
    n = x.numel() if hasattr(x, "numel") else x.size
    scale_kernel[(enceladus.cdiv(n, 1024),)](x, out, n, factor, BLOCK=1024)


def slow(milliseconds=50):
    """Keeps the current stream busy."""
    torch.cuda._sleep(int(milliseconds * 1e6))


def test_launches_on_torch_tensors_run_in_the_current_stream_without_waiting():
    x = torch.randn(1 << 20, device="cuda")
    out = torch.empty_like(x)
    scale(x + 1, out, 1.0)  # compiled, and PyTorch's kernels loaded
    out * 1.0
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        slow()
        y = x + 1
        scale(y, out, 2.0)
        assert not stream.query(), "the launch waited"
        result = out * 1.0
    stream.synchronize()
    torch.testing.assert_close(result, (x + 1) * 2)


SCALE = """
extern "C" __global__ void scale(const float* x, float* out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * factor;
}
"""


def test_hand_written_kernels_run_in_torchs_current_stream_without_waiting():
    kernel = enceladus.cuda_kernel(SCALE, "scale")
    x = torch.randn(1 << 20, device="cuda")
    out = torch.empty_like(x)
    kernel[1 << 10, 1024](x + 1, out, x.numel(), 1.0)
    out * 1.0
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        slow()
        y = x + 1
        kernel[1 << 10, 1024](y, out, x.numel(), 2.0)
        assert not stream.query(), "the launch waited"
        result = out * 1.0
    stream.synchronize()
    torch.testing.assert_close(result, (x + 1) * 2)


class Subclass(torch.Tensor):
    pass


def test_parameters_subclasses_and_views_are_taken_where_they_lie():
    whole = torch.arange(4000.0, device="cuda")
    expected = whole[1000:3000] * 3
    for x in (
        torch.nn.Parameter(whole[1000:3000]),
        whole[1000:3000].as_subclass(Subclass),
        whole.reshape(2, 2000)[:, :1000].T[0, 1:2],  # one element, at whole[2000]
    ):
        out = torch.nn.Parameter(torch.zeros(x.numel(), device="cuda"))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            scale(x, out, 3.0)
        stream.synchronize()
        wanted = expected if x.numel() > 1 else expected[1000:1001]
        torch.testing.assert_close(out.detach(), wanted)


def test_views_that_torch_negates_lazily_are_refused():
    lazy = torch.ones(100, dtype=torch.complex64, device="cuda").conj().imag
    out = torch.zeros(100, device="cuda")
    with pytest.raises(ValueError, match="torch negates lazily"):
        scale(lazy, out, 1.0)
    scale(lazy.resolve_neg(), out, 1.0)


def test_launches_are_captured_into_a_graph():
    x = torch.zeros(5000, device="cuda")
    middle, out = torch.empty_like(x), torch.empty_like(x)
    scale(x, out, 3.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale(x, middle, 3.0)
        scale(middle + 1, out, 2.0)
    for value in (1.0, 5.0):
        x.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert out[0].item() == out[-1].item() == (value * 3 + 1) * 2


def test_a_capture_right_behind_a_burst_of_our_own_is_whole():
    x = torch.zeros(5000, device="cuda")
    out = torch.empty_like(x)
    ours, ours_out = (enceladus.ones(64, device="cuda:0") for _ in range(2))
    scale(x, out, 3.0)
    for turn in range(20):
        for _ in range(20 + turn):
            scale(ours, ours_out, 2.0)  # some are held back still
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            scale(x, out, 3.0)
        x.fill_(float(turn))
        graph.replay()
        torch.cuda.synchronize()
        assert out[7].item() == 3.0 * turn
    assert ours_out.numpy().sum() == 128


def test_tensors_of_ours_and_torchs_share_memory_in_order():
    ours = enceladus.zeros(3000, device="cuda:0")
    theirs = torch.from_dlpack(ours)
    assert theirs.data_ptr() == ours.data_ptr()
    stream = torch.cuda.Stream()
    x = torch.ones(3000, device="cuda")
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        slow()
        scale(x, ours, 4.0)  # on their stream; ours waits for it
    assert ours.numpy().sum() == 12000
    back = enceladus.from_dlpack(x)
    scale(back, ours, 5.0)
    assert theirs.sum().item() == 15000
    for turn in range(200):  # a burst on memory that torch knows is in order with torch's own work
        scale(back, ours, float(turn))
        assert turn % 20 or theirs[5].item() == turn
    assert torch.as_tensor(ours, device="cuda").data_ptr() == ours.data_ptr()


def test_cupy_arrays():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(2000, dtype=cupy.float32)
    out = cupy.zeros_like(x)
    scale(x, out, 2.0)
    assert float(out.sum()) == 2 * 1999 * 1000
    t = enceladus.ones(16, device="cuda:0")
    assert float(cupy.asarray(t).sum()) == 16


class Shown:
    """A tensor of torch of which `__cuda_array_interface__` alone is seen."""

    def __init__(self, tensor, **changes):
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **changes}


def scale_shown(x, out, factor, **changes):
    count = x.numel()
    arrays = Shown(x, **changes), Shown(out)
    scale_kernel[(enceladus.cdiv(count, 1024),)](*arrays, count, factor, BLOCK=1024)


def test_arrays_with_the_cuda_array_interface_alone():
    x = torch.arange(5000.0, device="cuda")
    out = torch.zeros_like(x)
    scale_shown(x, out, 2.0)
    torch.testing.assert_close(out, x * 2)
    scale_shown(x[1000:3000], out[:2000], 3.0, version=3, stream=None, strides=None)
    torch.testing.assert_close(out[:2000], x[1000:3000] * 3)
    for dtype in (torch.float16, torch.float64, torch.int64, torch.uint8):
        typed = torch.zeros(5000, dtype=dtype, device="cuda")
        scale_shown(x, typed, 0.01)
        torch.testing.assert_close(typed, (x * 0.01).to(dtype))
    with pytest.raises(ValueError, match="read-only"):
        scale(x, Shown(out, data=(out.data_ptr(), True)), 1.0)
    with pytest.raises(ValueError, match="no memory of a GPU"):
        scale_shown(x, out, 1.0, data=(4096, False))


def test_arrays_of_the_cuda_array_interface_are_ready_in_the_stream_that_it_names():
    x = torch.randn(1 << 20, device="cuda")
    out = torch.empty_like(x)
    scale_shown(x + 1, out, 1.0)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        slow()
        y = x + 1
    scale_shown(y, out, 2.0, version=3, stream=stream.cuda_stream)
    torch.testing.assert_close(out, (x + 1) * 2)
    with torch.cuda.stream(stream):
        slow()
        y = x + 3
    shared = enceladus.from_dlpack(Shown(y, version=3, stream=stream.cuda_stream))
    ours = enceladus.zeros(x.numel(), device="cuda:0")
    scale(shared, ours, 2.0)  # does not wait
    torch.testing.assert_close(torch.from_dlpack(ours), (x + 3) * 2)
    for named in (1, 2):
        scale_shown(x, out, float(named), version=3, stream=named)
        torch.testing.assert_close(out, x * named)


def test_a_thread_without_a_context_passes_arrays_of_the_cuda_array_interface():
    x = torch.ones(3000, device="cuda")
    out = torch.zeros_like(x)
    thread = threading.Thread(target=scale_shown, args=(x, out, 7.0))
    thread.start()
    thread.join()
    assert out.sum().item() == 21000


def test_numba_arrays():
    cuda = pytest.importorskip("numba.cuda")
    if not cuda.is_available():
        pytest.skip("this Numba finds no GPU")
    x, out = cuda.to_device(np.arange(2000, dtype=np.float32)), cuda.device_array(2000, np.float32)
    scale(x, out, 2.0)
    assert out.copy_to_host().sum() == 2 * 1999 * 1000


def test_jax_arrays_are_read():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(2000, dtype="float32")
    if next(iter(x.devices())).platform not in ("gpu", "cuda"):
        pytest.skip("this JAX has no GPU")
    out = enceladus.zeros(2000, device="cuda:0")
    scale(x, out, 2.0)
    assert out.numpy().sum() == 2 * 1999 * 1000
    with pytest.raises(ValueError, match="read-only"):
        scale(out, x, 1.0)


def test_numpy_arrays_mix_with_gpu_arrays():
    x = np.ones(100, np.float32)
    out = torch.zeros(100, device="cuda")
    scale(x, out, 6.0)
    assert out.sum().item() == 600


def test_arrays_on_two_devices_are_refused():
    x = enceladus.zeros(4, device="cpu")
    with pytest.raises(ValueError, match="different devices"):
        scale(x, torch.zeros(4, device="cuda"), 1.0)
