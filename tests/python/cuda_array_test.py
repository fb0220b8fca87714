"""Arrays that show `__cuda_array_interface__` alone, as Numba's: the driver is the stand-in of
conftest, whose memory is the host's."""

import pytest

from cuda_host_test import HAND_WRITTEN, KERNEL, needs_nvrtc

# A stranger's array over memory of ours, with any part of the protocol's dict replaced.
STRANGER = """
import enceladus

class Stranger:
    def __init__(self, tensor, **changes):
        self.tensor = tensor
        shown = {**tensor.__cuda_array_interface__, "stream": None, **changes}
        self.shown = {key: value for key, value in shown.items() if value is not ...}

    @property
    def __cuda_array_interface__(self):
        return self.shown

def full(value, size=64, dtype="float32", device="cuda:0"):
    return enceladus.full((size,), value, dtype=dtype, device=device)
"""
LAUNCH = KERNEL + STRANGER


@pytest.fixture
def run(run_on_fake_cuda):
    return run_on_fake_cuda


@needs_nvrtc
def test_they_are_arguments_read_and_written_where_they_lie(run):
    out = run(
        LAUNCH
        + """
out = full(0.0)
for changes in ({}, {"version": 2, "stream": ...}, {"strides": None}, {"strides": ...}):
    out.fill_(0)
    x, y = Stranger(full(1.0), **changes), Stranger(full(2.0), **changes)
    add_kernel[(1,)](x, y, Stranger(out, **changes), 64, BLOCK=64)
    print(out.numpy().sum())
add_kernel[(1,)](Stranger(full(5.0)), full(2.0), out, 64, BLOCK=64)  # beside ours
add_kernel[(1,)](Stranger(out), np.ones(64, np.float32), out, 64, BLOCK=64)  # and the host's
print(out.numpy().sum())
"""
    )
    assert out.split() == ["192.0"] * 4 + ["512.0"]
    copied = [line for line in run.journal() if line.startswith("to device")]
    assert copied == ["to device 256"]


@needs_nvrtc
def test_hand_written_kernels_take_them_too(run):
    out = run(
        HAND_WRITTEN
        + STRANGER
        + """
x, out = full(3.0, 100), full(0.0, 100)
kernel[1, 128](Stranger(x), Stranger(x), Stranger(out), 100)
print(out.numpy().sum())
try:
    kernel[1, 128](x, Stranger(x, typestr="<i4"), out, 100)
except TypeError as error:
    print(error)
"""
    )
    total, refused = out.splitlines()
    assert total == "600.0"
    assert "argument `y` of `add_kernel` has elements of int32, but is declared float32" in refused


@needs_nvrtc
@pytest.mark.parametrize(
    ("stream", "before"),
    [
        ("None", []),
        ("1", []),
        ("2", ["event in stream 2", "wait in stream 1"]),
        ("77", ["event in stream 77", "wait in stream 1"]),
        ("99", []),  # is being captured into a graph
    ],
)
def test_the_launch_is_behind_the_stream_that_the_array_names(run, stream, before):
    run(
        LAUNCH
        + f"""
x, out = full(1.0), full(0.0)
add_kernel.warmup(x, x, out, 64, BLOCK=64)
journal = open(__import__("os").environ["FAKE_CUDA_JOURNAL"], "a")
journal.write("here\\n")
journal.close()
add_kernel[(1,)](Stranger(x, stream={stream}), x, out, 64, BLOCK=64)
assert out.numpy().sum() == 128
"""
    )
    journal = run.journal()
    start = journal.index("here") + 1
    launch = next(i for i, line in enumerate(journal) if line.startswith("launch"))
    found = [line for line in journal[start:launch] if line.startswith(("event", "wait"))]
    assert found == before


@needs_nvrtc
def test_the_array_is_kept_until_the_launch_has_run_and_no_longer(run):
    out = run(
        LAUNCH
        + """
import gc, weakref
out = full(0.0)
x = Stranger(full(1.0))
alive = weakref.ref(x)
add_kernel[(1,)](x, x, out, 64, BLOCK=64)
shared = enceladus.from_dlpack(x)
del x
gc.collect()
print(alive() is not None, shared.tolist() == [1.0] * 64, shared.device, shared.writable)
del shared
gc.collect()
print(alive() is None)
"""
    )
    assert out.splitlines() == ["True True cuda:0 True", "True"]


@needs_nvrtc
def test_read_only_arrays_are_read_and_never_written(run):
    out = run(
        LAUNCH
        + """
x, out = full(1.0), full(0.0)
locked = Stranger(x, data=(x.data_ptr(), True))
add_kernel[(1,)](locked, locked, out, 64, BLOCK=64)
print(out.numpy().sum(), enceladus.from_dlpack(locked).writable)
try:
    add_kernel[(1,)](x, x, locked, 64, BLOCK=64)
except ValueError as error:
    print(error)
"""
    )
    total, refused = out.splitlines()
    assert total == "128.0 False"
    assert "argument `out_ptr` of `add_kernel` is read-only, but the kernel stores to it" in refused


@needs_nvrtc
def test_arrays_without_elements_have_no_address_and_lie_on_no_device(run):
    out = run(
        LAUNCH
        + """
x = full(1.0, device="cuda:1")
empty = Stranger(x, shape=(0,), data=(0, False), strides=None)
add_kernel[(1,)](empty, x, x, 0, BLOCK=64)
add_kernel[(1,)](empty, empty, empty, 0, BLOCK=64)
print(enceladus.from_dlpack(empty).shape)
""",
        FAKE_CUDA_DEVICES="2",
    )
    assert out.strip() == "(0,)"


@needs_nvrtc
def test_the_driver_says_on_which_device_the_memory_is(run):
    out = run(
        LAUNCH
        + """
x, far = full(1.0), full(1.0, device="cuda:1")
add_kernel[(1,)](Stranger(far), Stranger(far), Stranger(far), 64, BLOCK=64)
print(far.numpy().sum(), enceladus.from_dlpack(Stranger(far)).device)
try:
    add_kernel[(1,)](x, Stranger(far), x, 64, BLOCK=64)
except ValueError as error:
    print(error)
""",
        FAKE_CUDA_DEVICES="2",
    )
    first, refused = out.splitlines()
    assert first == "128.0 cuda:1"
    assert "`x_ptr` is on cuda:0, `y_ptr` is on cuda:1" in refused


REFUSED = [
    ({"typestr": ">f4"}, "TypeError", "typestr='>f4' in its __cuda_array_interface__, no little-"),
    ({"typestr": ">f4"}, "TypeError", "pass a copy of the type '<f4'"),
    ({"typestr": "|f4"}, "TypeError", "no little-endian elements"),
    ({"typestr": "<c8"}, "TypeError", "typestr='<c8' in its __cuda_array_interface__, a type that"),
    ({"typestr": "|V8"}, "TypeError", "a type that kernels do not have; they have bool, integers"),
    ({"typestr": "<V2"}, "TypeError", "more of what has `__dlpack__`"),
    ({"typestr": "f4"}, "TypeError", "a type that kernels do not have"),
    ({"typestr": ""}, "TypeError", "a type that kernels do not have"),
    ({"typestr": 4}, "TypeError", "typestr=4"),
    ({"typestr": ...}, "TypeError", "has no `typestr` in its __cuda_array_interface__"),
    ({"mask": "m"}, "ValueError", "has a mask in its __cuda_array_interface__"),
    ({"version": 1}, "ValueError", "version=1 in its __cuda_array_interface__; versions 2 and 3"),
    ({"version": 4}, "ValueError", "version=4"),
    ({"version": ...}, "TypeError", "has no `version`"),
    ({"stream": 0}, "ValueError", "stream=0 in its __cuda_array_interface__; it is None, 1 (the"),
    ({"stream": -1}, "ValueError", "stream=-1"),
    ({"stream": "s"}, "ValueError", "stream='s'"),
    ({"data": (0, False)}, "ValueError", "has elements, but a null pointer"),
    ({"data": (256, False)}, "ValueError", "no memory of a GPU: cuPointerGetAttribute answered"),
    ({"data": (257, False)}, "ValueError", "not aligned to its element size"),
    ({"data": (None, False)}, "TypeError", "data=(None, False)"),
    ({"data": 256}, "TypeError", "an address and a read-only flag"),
    ({"shape": 64}, "TypeError", "shape=64 in its __cuda_array_interface__, which must be a tuple"),
    ({"shape": (2.5,)}, "TypeError", "must hold 64-bit integers"),
    ({"shape": (-1,)}, "ValueError", "shape=(-1,) in its __cuda_array_interface__: "),
    ({"shape": (1,) * 17}, "ValueError", "16"),
    ({"shape": (0, -1), "strides": None}, "ValueError", "negative extent in shape (0, -1)"),
    ({"shape": (2**62,)}, "ValueError", "reach further than memory does"),
    ({"strides": (2**62,)}, "ValueError", "reach further than memory does"),
    ({"strides": (4, 4)}, "ValueError", "strides=(4, 4) in its __cuda_array_interface__, but the"),
    ({"strides": (6,)}, "ValueError", "6 is no multiple of the element size"),
    ({"strides": (-4,)}, "ValueError", "has a negative stride"),
]


def test_what_kernels_cannot_take_is_refused_with_the_value_and_a_way_out(run):
    """The address 257 is refused before the driver is asked, which 256 is not."""
    out = run(
        LAUNCH
        + f"""
x = full(1.0)
for changes in {[changes for changes, _, _ in REFUSED]!r}:
    try:
        add_kernel[(1,)](x, Stranger(x, **changes), x, 64, BLOCK=64)
    except Exception as error:
        print(type(error).__name__, error)
class Broken:
    __cuda_array_interface__ = 3
class Failing:
    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("no stream yet")
class Unwritable:
    def __repr__(self):
        return "\\udc80"
class Nameless:
    __cuda_array_interface__ = dict(version=Unwritable())
class Without:
    @property
    def __cuda_array_interface__(self):
        raise AttributeError("not on a GPU")
for array in (Broken(), Failing(), Nameless(), Without()):
    try:
        add_kernel[(1,)](x, array, x, 64, BLOCK=64)
    except TypeError as error:
        print(error)
"""
    )
    *lines, broken, failing, nameless, without = out.splitlines()
    assert len(lines) == len(REFUSED)
    for (changes, kind, words), line in zip(REFUSED, lines, strict=True):
        assert line.startswith(f"{kind} argument `y_ptr` of `add_kernel` "), (changes, line)
        assert words in line, (changes, line)
    assert "has a __cuda_array_interface__ that is no dict: 3" in broken
    assert "cannot be read: no stream yet" in failing
    assert "has version=Unwritable in its __cuda_array_interface__" in nameless
    assert "pass an array (enceladus.Tensor, NumPy, torch)" in without


def test_without_a_driver_they_are_refused_with_the_reason(run):
    out = run(
        """
        import enceladus
        class Stranger:
            __cuda_array_interface__ = {
                "shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3,
            }
        try:
            enceladus.from_dlpack(Stranger())
        except ValueError as error:
            print(error)
        """,
        FAKE_CUDA_DEVICES="0",
    )
    assert "the array has __cuda_array_interface__, but no CUDA device can be used here" in out
    assert "sees no GPU" in out or "NO_DEVICE" in out


def test_they_are_no_constexprs_and_nothing_for_the_interpreter(run):
    out = run(
        LAUNCH
        + """
import os
x = full(1.0)
host = np.zeros(64, np.float32)
for block, interpret in ((Stranger(x), "0"), (64, "1")):
    os.environ["ENCELADUS_INTERPRET"] = interpret
    try:
        add_kernel[(1,)](Stranger(x), host, host, 64, BLOCK=block)
    except TypeError as error:
        print(error)
"""
    )
    constexpr, interpreted = out.splitlines()
    assert "constexpr argument `BLOCK` of `add_kernel` is an array (Stranger)" in constexpr
    assert "`x_ptr` lies in a GPU's memory, and the interpreter reads arrays of the" in interpreted


def test_tuning_restores_and_clears_what_trials_write(run):
    out = run(
        STRANGER
        + """
from enceladus.tuning.arguments import Snapshot, zero
x, y = full(1.0), full(2.0)
arrays = {"x": Stranger(x), "y": Stranger(y, data=(y.data_ptr(), True))}
for name, tensor in (("x", x), ("y", y)):
    arrays[name].shape, arrays[name].dtype = (64,), tensor.dtype
snapshot = Snapshot(arrays, written=["x"], read=["x", "y"])
x.fill_(9)
snapshot.restore_inputs()
print(x.numpy().sum())
zero(arrays["x"])
print(x.numpy().sum())
"""
    )
    assert out.split() == ["64.0", "0.0"]
