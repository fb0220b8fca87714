"""The device `metal-sim`: the Metal runtime and its kernels as a user of the package sees them."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus.testing import do_bench, simulated
from needs import needs_simulator

pytestmark = needs_simulator


@pytest.fixture(autouse=True)
def on_the_simulator():
    with enceladus.device("metal-sim"):
        yield


@enceladus.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@enceladus.jit
def add_without_a_mask(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 1)  # here


@enceladus.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


def integers(n):
    return np.arange(n, dtype=np.int32)


def test_the_device_is_listed_behind_the_default_one():
    names = [device.name for device in enceladus.devices()]
    assert names.index("metal-sim") > 0
    assert str(enceladus.current_device()) == "metal-sim"


def test_numpy_arrays_are_added_in_place_of_the_cpu():
    x, y, out = integers(100), integers(100) * 3, np.zeros(100, np.int32)
    add[(2,)](x, y, out, 100, BLOCK=64)
    np.testing.assert_array_equal(out, x + y)
    assert add.warmup(x, y, out, 100, BLOCK=64).artifact.target == "metal-sim"


def test_tensors_live_on_the_device_and_launches_on_them_follow_each_other():
    x = enceladus.from_numpy(integers(100))
    assert str(x.device) == "metal-sim"
    for _ in range(100):
        add_one[(2,)](x, 100, BLOCK=64)
    np.testing.assert_array_equal(x.numpy(), integers(100) + 100)


def test_tensors_and_numpy_arrays_mix():
    x = enceladus.from_numpy(integers(64))
    out = np.zeros(64, np.int32)
    add[(1,)](x, integers(64), out, 64, BLOCK=64)
    np.testing.assert_array_equal(out, 2 * integers(64))


def test_views_of_tensors_share_their_memory():
    x = enceladus.zeros((8, 16), dtype="int32")
    add_one[(1,)](x[3], 16, BLOCK=16)
    assert x.numpy().sum() == 16 and x[3].tolist() == [1] * 16


def test_overlapping_numpy_arrays_see_each_other():
    x = integers(65)
    add[(1,)](x[:64], x[:64], x[1:], 64, BLOCK=64)
    np.testing.assert_array_equal(x[1:], 2 * integers(64))


def test_random_numbers_are_those_of_the_cpu():
    enceladus.manual_seed(5)
    here = enceladus.randn(1000).numpy()
    enceladus.manual_seed(5)
    np.testing.assert_array_equal(here, enceladus.randn(1000, device="cpu").numpy())


def test_text_and_report_are_there():
    compiled = add.warmup(*[np.dtype("float32")] * 3, 100, BLOCK=64)
    assert compiled.source == compiled.msl
    assert "kernel void add(" in compiled.msl
    assert list(compiled.asm) == ["ir", "simt", "msl"]


def test_a_launch_can_be_timed():
    x = enceladus.zeros(64, dtype="int32")
    assert do_bench(lambda: add_one[(1,)](x, 64, BLOCK=64), warmup=1, rep=2) > 0


def test_threads_launch_at_once():
    tensors = [enceladus.zeros(64, dtype="int32") for _ in range(4)]

    def work(x):
        for _ in range(25):
            add_one[(1,)](x, 64, BLOCK=64)
        assert x.tolist() == [25] * 64

    threads = [threading.Thread(target=work, args=(x,)) for x in tensors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    enceladus.synchronize()
    assert all(x.tolist() == [25] * 64 for x in tensors)


def test_an_access_out_of_bounds_names_line_program_and_thread():
    line = add_without_a_mask.first_line + 3
    with pytest.raises(enceladus.OutOfBoundsError) as caught:
        add_without_a_mask[(2,)](integers(100), np.zeros(100, np.int32), BLOCK=64)
    text = str(caught.value)
    assert "kernel `add_without_a_mask`: add_without_a_mask: out of bounds" in text
    assert f"metal_sim_test.py:{line} (MSL line" in text
    assert "program (1, 0, 0), thread" in text


def test_an_error_of_a_queued_launch_comes_at_the_synchronization_and_once():
    x, out = enceladus.zeros(100, dtype="int32"), enceladus.zeros(128, dtype="int32")
    add_without_a_mask[(2,)](x, out, BLOCK=64)
    with pytest.raises(enceladus.OutOfBoundsError):
        enceladus.synchronize()
    enceladus.synchronize()
    add_without_a_mask[(1,)](x, out, BLOCK=64)
    assert out[:64].tolist() == [1] * 64


def test_schedules_can_be_chosen():
    with pytest.raises(ValueError, match="one of 'in order', 'reversed', 'random'"), simulated("x"):
        pass
    for schedule in ("reversed", "random"):
        with simulated(schedule, seed=1):
            x = integers(64)
            add_one[(1,)](x, 64, BLOCK=64)
            np.testing.assert_array_equal(x, integers(64) + 1)


def test_float64_is_refused_with_a_way_out():
    x = np.zeros(64)
    with pytest.raises(enceladus.CompilationError, match="(?s)float64.*float32"):
        add[(1,)](x, x, x, 64, BLOCK=64)


def test_too_many_buffers_are_refused_at_the_kernel(tmp_path):
    names = ", ".join(f"p{i}" for i in range(32))
    body = "\n".join(f"    tl.store(p{i} + tl.arange(0, 32), {i})" for i in range(32))
    path = tmp_path / "many.py"
    path.write_text(
        f"import enceladus\nimport enceladus.language as tl\n\n\n@enceladus.jit\n"
        f"def many({names}):\n{body}\n"
    )
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(enceladus.CompilationError, match=r"many.py:6.*32 buffers(.|\n)*at most 31"):
        namespace["many"][(1,)](*[np.zeros(32, np.float32) for _ in range(32)])


def test_a_torch_tensor_on_the_cpu_is_refused_with_a_way_out():
    torch = pytest.importorskip("torch")
    x = torch.zeros(64, dtype=torch.int32)
    with pytest.raises(ValueError, match=r"`x_ptr` of `add_one` is a torch tensor on the CPU"):
        add_one[(1,)](x, 64, BLOCK=64)
    with enceladus.device("cpu"):
        add_one[(1,)](x, 64, BLOCK=64)
    assert x.tolist() == [1] * 64


def test_tensors_of_two_devices_are_refused():
    with pytest.raises(ValueError, match="`x_ptr` is on metal-sim, `y_ptr` is on cpu"):
        add[(1,)](
            enceladus.zeros(64), enceladus.zeros(64, device="cpu"), np.zeros(64), 64, BLOCK=64
        )


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "ENCELADUS_DEVICE": "metal-sim", **environment},
    )


SCRIPT = """
import enceladus, numpy as np
import sys; sys.path.insert(0, {folder!r})
from metal_sim_test import add_one
x = enceladus.from_numpy(np.zeros(64, np.int32))
for _ in range(10):
    add_one[(1,)](x, 64, BLOCK=64)
{end}
"""


def script(end):
    return SCRIPT.format(folder=os.path.dirname(__file__), end=end)


def test_the_environment_chooses_the_device():
    done = run(script("print(x.device, x.tolist()[0])"))
    assert done.stdout == "metal-sim 10\n", done.stderr
    assert done.stderr == ""


def test_importing_opens_no_device():
    done = run("import enceladus\nprint('metal-sim' in enceladus._core.started_devices())")
    assert done.stdout == "False\n", done.stderr


def test_pending_launches_finish_at_the_end_of_a_program():
    done = run(script(""))
    assert done.returncode == 0 and done.stderr == ""


def test_a_forked_process_is_told_why_it_cannot_use_the_device():
    done = run(
        script(
            """
import os
enceladus.synchronize()
child = os.fork()
if child == 0:
    try:
        add_one[(1,)](x, 64, BLOCK=64)
    except enceladus.MetalError as error:
        os.write(1, str(error).encode())
    os._exit(0)
os.waitpid(child, 0)
add_one[(1,)](x, 64, BLOCK=64)
print(x.tolist()[0])
"""
        )
    )
    assert "was forked from one that had used Metal" in done.stdout
    assert done.stdout.endswith("11\n"), done.stderr


@pytest.mark.parametrize("count", ["0", "x", "-3"])
def test_a_wrong_number_of_launches_to_flush_is_named(count):
    done = run(script(""), ENCELADUS_FLUSH_EVERY=count)
    assert f"ENCELADUS_FLUSH_EVERY={count}" in done.stderr
