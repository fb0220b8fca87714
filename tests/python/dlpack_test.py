"""DLPack both ways, and how arrays of other libraries look to a launch."""

import gc
import subprocess
import sys
import textwrap
import weakref

import ml_dtypes
import numpy as np
import pytest

import enceladus
from enceladus import _core

torch = pytest.importorskip("torch")
FakeTensorMode = pytest.importorskip("torch._subclasses").FakeTensorMode


def view(array):
    """(origin, dtype, bytes from the first to behind the last, writable) as a launch sees it."""
    origin, dtype, low, high, writable = _core.describe_argument(array)
    return origin, dtype, high - low, writable


def test_numpy_and_torch_take_tensors_without_copying():
    tensor = enceladus.arange(12, dtype="float32").reshape(3, 4)[:, ::2]
    for other in (torch.from_dlpack(tensor), np.from_dlpack(tensor)):
        other[1, 1] = 60
        assert tensor[1, 1].item() == 60
        tensor[1, 1] = 6
        np.testing.assert_array_equal(np.asarray(other), tensor.numpy())


@pytest.mark.parametrize("name", ["bfloat16", "float16", "int8", "uint8", "int64", "float64"])
def test_tensors_take_torch_arrays_without_copying(name):
    source = torch.arange(6).to(getattr(torch, name)).reshape(2, 3).T
    tensor = enceladus.from_dlpack(source)
    assert tensor.dtype == name and tensor.strides == (1, 3)
    assert tensor.tolist() == source.tolist() and tensor.data_ptr() == source.data_ptr()


def test_an_imported_array_lives_as_long_as_the_tensor():
    class Source:
        def __init__(self):
            self.array = np.arange(4.0)

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return (1, 0)

    source = Source()
    alive = weakref.ref(source.array)
    tensor = enceladus.from_dlpack(source)
    del source
    gc.collect()
    assert alive() is not None and tensor.tolist() == [0, 1, 2, 3]
    del tensor
    gc.collect()
    assert alive() is None


def test_an_exported_tensor_outlives_its_python_object():
    tensor = enceladus.ones(1000)
    other = np.from_dlpack(tensor)
    del tensor
    gc.collect()
    assert other.sum() == 1000
    unused = enceladus.ones(3).__dlpack__()  # a capsule that nobody takes frees itself
    del unused


def test_versions_and_keywords_follow_the_protocol():
    tensor = enceladus.zeros(3)
    assert "dltensor_versioned" in repr(tensor.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(tensor.__dlpack__())
    assert tensor.__dlpack_device__() == (1, 0)
    copied = np.from_dlpack(tensor, copy=True) if np.__version__ >= "2.1" else None
    if copied is not None:
        copied[0] = 5
        assert tensor.tolist() == [0, 0, 0]
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        tensor.__dlpack__(stream=1)


def test_read_only_tensors_are_exported_read_only_or_not_at_all():
    array = np.zeros(3)
    array.flags.writeable = False
    tensor = enceladus.from_numpy(array)
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()
    again = enceladus.from_dlpack(tensor)
    assert not again.writable


def test_foreign_devices_and_types_are_errors():
    class Elsewhere:
        def __dlpack__(self, **keywords):
            raise AssertionError("not asked")

        def __dlpack_device__(self):
            return (7, 0)  # Vulkan

    with pytest.raises(ValueError, match="device type 7"):
        enceladus.from_dlpack(Elsewhere())
    with pytest.raises(TypeError, match="no __dlpack__"):
        enceladus.from_dlpack([1])
    with pytest.raises(TypeError, match="DLPack elements"):
        enceladus.from_dlpack(np.zeros(2, np.complex64))


def test_a_launch_sees_each_library_alike():
    assert view(enceladus.zeros((3, 4))[:, 1:3]) == ("tensor", "float32", 40, True)
    assert view(np.zeros((3, 4), np.int16)[::2]) == ("numpy", "int16", 24, True)
    assert view(np.zeros(2, ml_dtypes.bfloat16)) == ("numpy", "bfloat16", 4, True)
    assert view(np.zeros((3, 0))) == ("numpy", "float64", 0, True)
    assert view(torch.zeros(4, 6)[:, ::2]) == ("torch", "float32", 92, True)
    assert view(torch.nn.Parameter(torch.zeros(3))) == ("torch", "float32", 12, True)
    assert view(torch.zeros(3, dtype=torch.bool)) == ("torch", "int1", 3, True)
    assert view(np.broadcast_to(np.zeros(1), (4,))) == ("numpy", "float64", 8, False)


def test_other_arrays_come_through_their_protocol():
    class Interface:
        def __init__(self, array):
            self.__array_interface__ = array.__array_interface__
            self.array = array

    assert view(Interface(np.zeros(3, np.float32))) == ("other", "float32", 12, True)


@pytest.mark.parametrize("value", [None, 1, 2.5, True, "x", np.float32(1), np.int64(2), (1,), int])
def test_scalars_are_no_arrays(value):
    assert _core.describe_argument(value) is None


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros(3)[::-1], "negative stride"),
        (np.zeros(3, ">f8"), "big-endian"),
        (np.zeros(3, complex), "complex128, which kernels do not have"),
        (np.zeros(25, np.uint8)[1:].view(np.float64), "not aligned"),
        (torch.zeros(3, dtype=torch.complex64), "complex64, which kernels do not have"),
        (torch.zeros(3, device="meta"), "torch tensor on meta"),
    ],
)
def test_arrays_that_kernels_cannot_take_say_why(array, message):
    with pytest.raises((TypeError, ValueError), match=message):
        _core.describe_argument(array)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128, torch.complex32], ids=str)
@pytest.mark.parametrize(
    "shape, take",
    [
        ((5,), lambda x: x),
        ((1,), lambda x: x),
        ((5,), lambda x: x[2]),
        ((3, 4), lambda x: x),
        ((3, 4), lambda x: x.T),
        ((3, 4), lambda x: x[1:, ::3]),
        ((1, 4), lambda x: x.expand(3, 4)),
        ((3, 3), lambda x: x.diagonal()),
        ((3, 4), lambda x: x.unfold(1, 2, 1)),
        ((3, 4), lambda x: x.flatten()),
        ((3, 4), lambda x: x.as_strided((5,), (1,))),
        ((3, 4), lambda x: x.as_strided((2, 3), (3, 5), 1)),
    ],
)
def test_views_that_torch_negates_lazily_are_refused(shape, take, dtype):
    lazy = take(torch.ones(shape, dtype=dtype).conj().imag)
    assert lazy.is_neg()
    for array in (lazy, lazy.as_subclass(type("Subclass", (torch.Tensor,), {}))):
        with pytest.raises(ValueError, match="torch negates lazily"):
            _core.describe_argument(array)
    assert view(lazy.resolve_neg())[0] == view(torch.zeros((4, 4))[::2, ::2])[0] == "torch"


def test_a_tensor_of_torch_is_not_asked_whether_it_is_negated(monkeypatch):
    view(torch.zeros(3))
    asked = []
    monkeypatch.setattr(torch.Tensor, "is_neg", lambda self: asked.append(self), raising=False)
    for array in (torch.zeros(4, 6)[:, ::2], torch.nn.Parameter(torch.zeros(3))):
        assert view(array)[0] == "torch"
    assert not asked


def test_torch_is_asked_where_it_does_not_show_how_its_tensors_are_laid_out():
    text = """
        import torch
        from enceladus import _core
        del torch._C._dispatch_keys
        assert _core.describe_argument(torch.zeros(3))[0] == "torch"
        lazy = torch.ones(3, dtype=torch.complex64).conj().imag.as_strided((3,), (1,))
        try:
            _core.describe_argument(lazy)
        except ValueError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(text)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "torch negates lazily" in done.stdout, done.stderr


def freed(tensor):
    tensor.untyped_storage().resize_(0)
    return tensor


def fake(tensor):
    with FakeTensorMode():
        return torch.empty(tensor.shape)


WITHOUT_MEMORY = {
    "freed": lambda x: freed(x),
    "freed parameter": lambda x: torch.nn.Parameter(freed(x)),
    "zeros of derivatives": lambda x: torch._efficientzerotensor(x.shape),
    "functional": lambda x: torch._to_functional_tensor(x),
    "fake": lambda x: fake(x),
    "fake view": lambda x: fake(x)[5:],
    "jagged": lambda x: torch.nested.nested_tensor([x, x[1:]], layout=torch.jagged),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_tensors_of_torch_without_memory_are_refused(name):
    """Kernels read address 0, or an offset from it."""
    tensor = WITHOUT_MEMORY[name](torch.ones(16))
    for take in (_core.describe_argument, enceladus.from_dlpack):
        with pytest.raises(ValueError, match=r"is a torch tensor \(\w+\) that has no memory"):
            take(tensor)
    assert view(freed(torch.ones(0)))[2] == 0


def test_what_torch_negates_lazily_is_no_tensor_of_ours():
    """Torch exports such a view by DLPack as if it were not negated."""
    lazy = torch.ones(3, dtype=torch.complex64).conj().imag
    with pytest.raises(ValueError, match="the array is a view that torch negates lazily"):
        enceladus.from_dlpack(lazy)
    assert enceladus.from_dlpack(lazy.resolve_neg()).tolist() == [0, 0, 0]


def test_what_only_looks_like_an_array_is_refused():
    """What torch's tracer passes has every attribute, and gives another of its kind for each."""
    proxy = torch.fx.Proxy(torch.fx.Graph().placeholder("x"))
    with pytest.raises(TypeError, match="has a __dlpack_device__ that is no tuple: Proxy"):
        _core.describe_argument(proxy)


def test_torch_is_left_alone_while_another_thread_imports_it():
    """The importing thread and one that looked for the negation bit waited for each other."""
    text = """
        import sys, threading, time
        from enceladus import _core
        done = threading.Event()
        def look():
            while not done.is_set():
                _core.describe_argument(object())
                time.sleep(0.001)
        thread = threading.Thread(target=look)
        thread.start()
        import torch
        done.set()
        thread.join()
        print(_core.describe_argument(torch.zeros(3))[0])
    """
    command = [sys.executable, "-c", textwrap.dedent(text)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "torch", done.stderr


def test_negative_strides_of_a_tensor_are_refused_too():
    with pytest.raises(ValueError, match="negative stride"):
        _core.describe_argument(enceladus.zeros(3)[::-1])


def test_neutral_helpers_make_arrays_of_the_same_library():
    for like in (enceladus.zeros((2, 3)), np.zeros((2, 3), np.float32), torch.zeros(2, 3)):
        made = enceladus.new_empty(like)
        assert type(made) is type(like) and tuple(made.shape) == (2, 3)
        assert enceladus.element_dtype(made) == "float32"
        assert enceladus.element_strides(made) == (3, 1)
        other = enceladus.new_zeros(like, shape=4, dtype="int8")
        assert enceladus.element_dtype(other) == "int8" and not np.asarray(other).any()
    with pytest.raises(TypeError, match="no strides"):
        enceladus.element_strides(3)
