"""Arrays of 8-bit floats: made, converted, shared with NumPy and PyTorch, and told by name."""

import ml_dtypes
import numpy as np
import pytest
import torch

import enceladus
import enceladus.language as tl
from enceladus.configs import attention_configs, matmul_configs
from enceladus.testing import assert_close

NAMES = ("float8_e4m3fn", "float8_e5m2")
LARGEST = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def numpy_type(name):
    return np.dtype(getattr(ml_dtypes, name))


def codes(name):
    return np.arange(256, dtype=np.uint8).view(numpy_type(name))


@enceladus.jit
def copy_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@pytest.mark.parametrize("name", NAMES)
def test_a_tensor_has_the_dtype_by_each_of_its_names(name):
    spelled = {"float8_e4m3fn": tl.float8e4nv, "float8_e5m2": tl.float8e5}[name]
    for given in (name, numpy_type(name), numpy_type(name).type, spelled, getattr(torch, name)):
        tensor = enceladus.zeros(3, given)
        assert tensor.dtype == spelled
        assert tensor.numpy().dtype == numpy_type(name)
        assert (tensor.itemsize, tensor.nbytes) == (1, 3)
    assert name in repr(enceladus.zeros(2, name))
    assert enceladus.element_dtype(codes(name)) == spelled


def test_the_language_has_tritons_names():
    assert repr(tl.float8e4nv) == "tl.float8e4nv"
    assert repr(tl.float8e5) == "tl.float8e5"
    assert (tl.float8e4nv.primitive_bitwidth, tl.float8e5.itemsize) == (8, 1)
    assert tl.float8e4nv.is_fp8() and tl.float8e4nv.is_fp8e4nv() and not tl.float8e4nv.is_fp8e5()
    assert tl.float8e5.is_fp8e5() and tl.float8e5.is_floating() and not tl.float16.is_fp8()
    assert tl.dtype("float8_e5m2") == tl.float8e5


@pytest.mark.parametrize("name", NAMES)
def test_every_code_goes_through_a_tensor(name):
    array = codes(name)
    shared = enceladus.from_numpy(array)
    assert shared.dtype == name
    copied = enceladus.empty_like(shared).copy_(shared)
    assert copied.numpy().tobytes() == array.tobytes()
    wide = shared.to("float32").numpy()
    np.testing.assert_array_equal(wide, array.astype(np.float32))
    back = enceladus.from_numpy(wide[np.isfinite(wide)]).to(name)
    np.testing.assert_array_equal(back.numpy().astype(np.float32), wide[np.isfinite(wide)])


@pytest.mark.parametrize("name", NAMES)
def test_tensors_saturate_as_kernels_do(name):
    values = np.float32([1e9, -1e9, np.inf, -np.inf, 0.5])
    wanted = [LARGEST[name], -LARGEST[name], LARGEST[name], -LARGEST[name], 0.5]
    assert enceladus.from_numpy(values).to(name).tolist() == wanted
    assert enceladus.full(2, 1e9, name).tolist() == [LARGEST[name]] * 2
    assert np.isnan(enceladus.full(1, float("nan"), name).item())
    out = enceladus.empty(5, name)
    copy_kernel[1](enceladus.from_numpy(values[:4].copy()), out, N=4)
    assert out.tolist()[:4] == wanted[:4]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("interpret", [False, True])
def test_kernels_take_arrays_of_numpy_and_torch(name, interpret, monkeypatch):
    monkeypatch.setenv("ENCELADUS_INTERPRET", str(int(interpret)))
    array, out = codes(name), np.zeros(256, numpy_type(name))
    copy_kernel[1](array, out, N=256)
    assert out.tobytes() == array.tobytes()
    source = torch.from_numpy(array.view(np.uint8).copy()).view(getattr(torch, name))
    target = torch.zeros(256, dtype=getattr(torch, name))
    copy_kernel[1](source, target, N=256)
    assert torch.equal(target.view(torch.uint8), source.view(torch.uint8))


@pytest.mark.parametrize("name", NAMES)
def test_dlpack_shares_memory_with_torch(name):
    tensor = enceladus.from_numpy(codes(name))
    theirs = torch.from_dlpack(tensor)
    assert theirs.dtype == getattr(torch, name)
    assert theirs.data_ptr() == tensor.data_ptr()
    ours = enceladus.from_dlpack(theirs)
    assert ours.dtype == name
    assert ours.data_ptr() == tensor.data_ptr()


@pytest.mark.parametrize("name", NAMES)
def test_assert_close_takes_float8_of_every_library(name):
    array = codes(name)[:64]
    tensor = torch.from_numpy(array.view(np.uint8).copy()).view(getattr(torch, name))
    assert_close(enceladus.from_numpy(array), tensor)
    with pytest.raises(AssertionError):
        assert_close(array, array.astype(np.float32) * 2 + 1)


@pytest.mark.parametrize("name", NAMES)
def test_configs_exist_for_products_only(name):
    assert matmul_configs(name)
    with pytest.raises(ValueError, match=name):
        attention_configs(name, 64)


@pytest.mark.parametrize("name", NAMES)
def test_random_numbers_are_made_wider(name):
    with pytest.raises(TypeError, match=name):
        enceladus.randn(4, dtype=name)
    assert enceladus.randn(4, dtype="float32").to(name).dtype == name


@enceladus.jit
def doubled_kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(x_ptr + tl.arange(0, N), x + x)


@pytest.mark.parametrize("interpret", [False, True])
def test_arithmetic_is_refused_with_a_way_out(interpret, monkeypatch):
    monkeypatch.setenv("ENCELADUS_INTERPRET", str(int(interpret)))
    with pytest.raises(enceladus.CompilationError, match=r"\.to\(tl\.float16\)") as caught:
        doubled_kernel[1](enceladus.zeros(16, "float8_e5m2"), N=16)
    assert "float8_e5m2" in str(caught.value)
    assert "x + x" in str(caught.value)


@enceladus.jit
def printing_kernel(x_ptr):
    tl.device_print("x", tl.load(x_ptr + 3))


def test_device_print_shows_the_number(capfd):
    x = enceladus.full(4, 3.25, "float8_e4m3fn")
    printing_kernel[1](x)
    enceladus.synchronize()
    assert "x: 3.250000" in capfd.readouterr().out
