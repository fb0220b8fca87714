"""Memory that a Metal device shares: NumPy's pages, DLPack, captures of what runs on it."""

import ctypes
import gc
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus import _core
from needs import needs_simulator

pytestmark = needs_simulator

if "metal-sim" in enceladus.devices():
    from enceladus.testing._simulator import library

PAGE = 16384


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
def show(x_ptr, BLOCK: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, BLOCK)))


def pages(count, dtype=np.int32, shift=0):
    """An array that begins `shift` bytes behind the start of a page of Apple's."""
    memory = mmap.mmap(-1, count * np.dtype(dtype).itemsize + 2 * PAGE)
    start = -np.frombuffer(memory, np.uint8).ctypes.data % PAGE + shift
    return np.frombuffer(memory, dtype, count, start)


def wraps():
    calls = library().read("calls")
    name = "-[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:]"
    return calls.get(name, {"calls": 0})["calls"]


def test_from_numpy_shares_memory_that_begins_on_a_page():
    array = pages(1000)
    tensor = enceladus.from_numpy(array)
    assert tensor.data_ptr() == array.ctypes.data
    add_one[(1,)](tensor, 1000, BLOCK=1024)
    enceladus.synchronize()
    assert array.tolist() == [1] * 1000
    array[3] = 7
    assert tensor[3].item() == 7


@pytest.mark.parametrize(
    "array",
    [pages(1000, shift=64), pages(1000)[::2], pages(100).reshape(10, 10).T, pages(4)[:0]],
    ids=["not on a page", "strided", "transposed", "empty"],
)
def test_from_numpy_copies_what_it_cannot_share(array):
    tensor = enceladus.from_numpy(array)
    assert tensor.data_ptr() != array.ctypes.data
    assert tensor.shape == array.shape and tensor.tolist() == array.tolist()


def test_a_tensor_keeps_the_shared_array_alive_and_the_array_its_wrapper():
    before = _core.wrapped_memory_count()
    array = pages(1000)
    tensor = enceladus.from_numpy(array)
    again = enceladus.from_numpy(array)  # the same wrapper
    assert _core.wrapped_memory_count() == before + 1
    del array
    gc.collect()
    add_one[(1,)](tensor, 1000, BLOCK=1024)
    del tensor
    assert again.tolist() == [1] * 1000
    del again
    gc.collect()
    assert _core.wrapped_memory_count() <= before


def test_a_read_only_array_gives_a_read_only_tensor():
    array = pages(64)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        add_one[(1,)](enceladus.from_numpy(array), 64, BLOCK=64)


def test_repeated_launches_on_an_array_and_its_views_wrap_it_once():
    array = pages(1000)
    add_one[(1,)](array, 1000, BLOCK=1024)
    library().call("reset_calls")
    for _ in range(5):
        add_one[(1,)](array, 1000, BLOCK=1024)
        add_one[(1,)](array[100:200], 100, BLOCK=128)
    assert wraps() == 0
    assert array[0] == 6 and array[150] == 11


def test_an_array_whose_memory_is_wrapped_stays_where_it_is():
    array = np.zeros(40_000, np.int32)
    add_one[(1,)](array[:64], 64, BLOCK=64)
    with pytest.raises(ValueError, match="cannot resize"):
        array.resize(400_000, refcheck=False)
    assert array[:64].tolist() == [1] * 64


def test_wrappers_die_with_their_arrays():
    gc.collect()
    before = _core.wrapped_memory_count()
    for _ in range(50):
        array = pages(5000)
        add_one[(5,)](array, 5000, BLOCK=1024)
        assert array.sum() == 5000
        del array
    gc.collect()
    assert _core.wrapped_memory_count() <= before


def test_an_overrun_inside_a_wrapped_page_is_found():
    array = pages(100)
    with pytest.raises(enceladus.OutOfBoundsError, match="`x_ptr`"):
        add_one[(1,)](array, 101, BLOCK=128)
    tensor = enceladus.from_numpy(pages(100))
    add_one[(1,)](tensor, 101, BLOCK=128)
    with pytest.raises(enceladus.OutOfBoundsError, match="`x_ptr`"):
        enceladus.synchronize()


def test_an_overrun_of_a_view_of_a_tensor_is_found():
    tensor = enceladus.zeros(100, dtype="int32")
    add_one[(1,)](tensor[:50], 51, BLOCK=64)
    with pytest.raises(enceladus.OutOfBoundsError, match="`x_ptr`"):
        enceladus.synchronize()
    add_one[(1,)](tensor[50:], 50, BLOCK=64)  # another extent of the same buffer
    add_one[(1,)](tensor, 100, BLOCK=128)
    assert tensor[50:].tolist() == [2] * 50


def test_an_empty_view_at_the_end_of_a_buffer_is_bound():
    tensor = enceladus.zeros(64, dtype="int32")
    add_one[(1,)](tensor[64:], 0, BLOCK=64)
    enceladus.synchronize()
    assert library().read("take_violations") == []


# --- DLPack ---


def test_a_metal_tensor_names_metal_and_comes_back_without_a_copy():
    tensor = enceladus.arange(12, dtype="float32").reshape(3, 4)
    assert tensor.__dlpack_device__() == (8, 0)
    again = enceladus.from_dlpack(tensor[1:, ::2])
    assert str(again.device) == "metal-sim" and again.strides == (4, 2)
    assert again.data_ptr() == tensor.data_ptr() + 16
    add_one[(1,)](again[0], 1, BLOCK=4)
    assert tensor[1].tolist() == [5, 5, 6, 7]
    del tensor
    gc.collect()
    assert again.tolist() == [[5, 6], [8, 10]]


def test_imports_of_one_buffer_die_one_by_one():
    tensor = enceladus.zeros(64, dtype="int32")
    imported = [enceladus.from_dlpack(tensor) for _ in range(3)]
    while imported:
        add_one[(1,)](imported[-1], 64, BLOCK=64)
        imported.pop()
    add_one[(1,)](tensor, 64, BLOCK=64)
    assert tensor.tolist() == [4] * 64


def test_the_host_may_ask_for_its_own_view():
    tensor = enceladus.zeros(4, dtype="int32")

    class OnTheHost:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **keywords):
            return tensor.__dlpack__(dl_device=(1, 0), max_version=(1, 0))

    host = np.from_dlpack(OnTheHost())
    host[:] = 5
    assert tensor.tolist() == [5] * 4
    with pytest.raises(BufferError, match=r"cannot be exported to DLPack device \(2, 0\)"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="no stream"):
        tensor.__dlpack__(stream=1)


def test_what_claims_to_be_metals_but_gives_the_host_is_the_hosts():
    array = np.arange(3, dtype=np.float32)

    class LikeMlx:
        def __dlpack_device__(self):
            return (8, 0)

        def __dlpack__(self, **keywords):
            return array.__dlpack__()

    tensor = enceladus.from_dlpack(LikeMlx())
    assert str(tensor.device) == "cpu" and tensor.data_ptr() == array.ctypes.data


# --- captures ---


def test_a_capture_needs_the_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("MTL_CAPTURE_ENABLED", raising=False)
    with (
        pytest.raises(enceladus.MetalError, match="MTL_CAPTURE_ENABLED=1"),
        enceladus.capture(tmp_path / "trace.gputrace"),
    ):
        pass


def test_a_capture_writes_a_trace_and_ends_with_its_block(monkeypatch, tmp_path):
    monkeypatch.setenv("MTL_CAPTURE_ENABLED", "1")
    x = enceladus.zeros(64, dtype="int32")
    for name in ("one.gputrace", "two.gputrace"):
        with enceladus.capture(tmp_path / name) as path:
            add_one[(1,)](x, 64, BLOCK=64)
            with (
                pytest.raises(enceladus.MetalError, match="already"),
                enceladus.capture(tmp_path / "three.gputrace"),
            ):
                pass
        assert path == str(tmp_path / name) and os.path.exists(path)
    assert x.tolist() == [2] * 64
    with (
        pytest.raises(enceladus.MetalError, match="exists already"),
        enceladus.capture(tmp_path / "one.gputrace"),
    ):
        pass


def test_a_failure_in_a_capture_ends_it(monkeypatch, tmp_path):
    monkeypatch.setenv("MTL_CAPTURE_ENABLED", "1")
    x = enceladus.zeros(64, dtype="int32")
    with pytest.raises(enceladus.OutOfBoundsError), enceladus.capture(tmp_path / "one.gputrace"):
        add_one[(1,)](x, 65, BLOCK=128)
    with enceladus.capture(tmp_path / "two.gputrace"):
        pass


def test_a_kernel_that_prints_cannot_be_captured(monkeypatch, tmp_path):
    monkeypatch.setenv("MTL_CAPTURE_ENABLED", "1")
    x = enceladus.zeros(4, dtype="int32")
    with (
        pytest.raises(enceladus.MetalError, match="cannot print from a kernel while a capture"),
        enceladus.capture(tmp_path / "one.gputrace"),
    ):
        show[(1,)](x, BLOCK=4)
    show[(1,)](x, BLOCK=4)
    enceladus.synchronize()


def test_wrong_captures_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("MTL_CAPTURE_ENABLED", "1")
    with pytest.raises(ValueError, match="something.gputrace"), enceladus.capture("trace"):
        pass
    with (
        pytest.raises(ValueError, match="cpu is no Metal device"),
        enceladus.capture(tmp_path / "a.gputrace", device="cpu"),
    ):
        pass


def test_a_capture_that_metal_refuses_leaves_a_usable_process(monkeypatch, tmp_path):
    monkeypatch.setenv("MTL_CAPTURE_ENABLED", "1")
    x = enceladus.zeros(64, dtype="int32")
    library().call("inject", b"startCaptureWithDescriptor:error:", ctypes.c_int64(0))
    with (
        pytest.raises(enceladus.MetalError, match="startCaptureWithDescriptor"),
        enceladus.capture(tmp_path / "one.gputrace"),
    ):
        pass
    library().call("clear_injections")
    add_one[(1,)](x, 64, BLOCK=64)
    assert x.tolist() == [1] * 64


def test_arrays_outlive_the_interpreters_end_in_any_order():
    code = """
import enceladus, numpy as np, mmap, sys
sys.path.insert(0, {folder!r})
from metal_memory_test import add_one, pages
enceladus.set_device("metal-sim")
array = pages(1000)
tensor = enceladus.from_numpy(array)
add_one[(1,)](tensor, 1000, BLOCK=1024)
add_one[(1,)](array, 1000, BLOCK=1024)
print(array[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", code.format(folder=os.path.dirname(__file__))],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("2\n", "", 0)
