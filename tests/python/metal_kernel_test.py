"""`enceladus.metal_kernel`: hand-written Metal text, run by the simulator."""

import ml_dtypes
import numpy as np
import pytest

import enceladus
from enceladus.metal import read_parameters
from needs import needs_simulator

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
SCALE = (
    HEAD
    + """
kernel void scale(device float* x [[buffer(0)]],  // in place
                  constant float& factor [[buffer(1)]], constant uint& n [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  if (i < n) x[i] *= factor;
}
"""
)


@pytest.fixture(autouse=True)
def on_the_simulator(request):
    if "metal-sim" not in enceladus.devices():
        yield
        return
    with enceladus.device("metal-sim"):
        yield


@needs_simulator
def test_a_kernel_scales_numpy_and_tensors():
    scale = enceladus.metal_kernel(SCALE, "scale")
    x = np.arange(100, dtype=np.float32)
    scale[4, 32](x, 2.5, 90)
    wanted = np.arange(100, dtype=np.float32)
    wanted[:90] *= 2.5
    np.testing.assert_array_equal(x, wanted)
    tensor = enceladus.from_numpy(wanted)
    for _ in range(3):
        scale[(4,), (32, 1)](tensor, np.float64(2.0), np.int64(100))
    np.testing.assert_array_equal(tensor.numpy(), wanted * 8)


@needs_simulator
def test_scalars_take_the_types_that_the_text_declares():
    kernel = enceladus.metal_kernel(
        HEAD
        + """
kernel void store(device float* out, constant half& a, constant bfloat& b, constant bool& c,
                  constant int8_t& d, constant ulong& e, constant int& f) {
  out[0] = a; out[1] = float(b); out[2] = c ? 1 : 0; out[3] = d; out[4] = e >> 40; out[5] = f;
}
""",
        "store",
    )
    out = np.zeros(6, np.float32)
    kernel[1, 1](out, 0.1, 0.1, True, -3, 1 << 41, ml_dtypes.bfloat16(7).astype(int))
    np.testing.assert_array_equal(
        out, [np.float16(0.1), np.float32(ml_dtypes.bfloat16(0.1)), 1, -3, 2, 7]
    )


def test_parameters_are_read_from_the_text():
    text = """
/* kernel void f(device int* no) */
[[kernel]] void f(device const half4* a [[buffer(3)]], constant uint2 *b, device atomic_uint& c,
                  constant Thing* d [[ buffer( 0 ) ]], constant packed_float3* e,
                  uint3 t [[thread_position_in_grid]]) {}
"""
    read = [(p.name, p.dtype, p.is_array, p.is_written, p.slot) for p in read_parameters(text, "f")]
    assert read == [
        ("a", "float16", True, False, 3),
        ("b", "uint32", True, False, 1),
        ("c", "uint32", True, True, 2),
        ("d", "", True, False, 0),
        ("e", "float32", True, False, 4),
    ]


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("constant Params& p", "is a Params, which no number gives"),
        ("constant float2& p", "is a float2, which no number gives"),
        ("texture2d<float> t [[texture(0)]], device int* x, sampler s", "`s` of `f`"),
        ("threadgroup float* s [[threadgroup(0)]]", "neither an array nor a number"),
        ("device int* x [[buffer(31)]]", "above 30"),
        ("device int* x [[buffer(1)]], device int* y [[buffer(1)]]", "the same buffer index"),
    ],
)
def test_parameters_that_no_launch_passes_are_refused(parameter, message):
    with pytest.raises(ValueError, match=message):
        enceladus.metal_kernel(f"kernel void f({parameter}) {{}}", "f")


def test_the_kernel_must_be_in_the_text():
    with pytest.raises(ValueError, match="no kernel function `g`"):
        enceladus.metal_kernel("kernel void f(device int* x) {}", "g")


def test_a_wrong_count_of_arguments_is_a_type_error():
    scale = enceladus.metal_kernel(SCALE, "scale")
    with pytest.raises(TypeError, match=r"takes 3 arguments \(x, factor, n\), but 2 were given"):
        scale[1, 32](np.zeros(4, np.float32), 1.0)


@needs_simulator
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.zeros(4, np.int32), 1.0, 4), TypeError, "`x` of `scale` has elements of int32"),
        ((3.0, 1.0, 4), TypeError, "`x` of `scale` is 3.0, not an array"),
        ((np.zeros(4, np.float32), "a", 4), TypeError, "`factor` of `scale` is 'a'"),
        ((np.zeros(4, np.float32), 1.0, 4.5), TypeError, "`n` of `scale` is 4.5"),
        ((np.zeros(4, np.float32), 1.0, -1), OverflowError, "uint32 does not hold"),
    ],
)
def test_arguments_must_fit_what_the_text_declares(arguments, error, message):
    with pytest.raises(error, match=message):
        enceladus.metal_kernel(SCALE, "scale")[1, 32](*arguments)


@pytest.mark.parametrize("shape", [(1, 0), (1, 1025), ((1, 1, 1, 1), 1), (-1, 1)])
def test_grids_and_threads_are_checked(shape):
    scale = enceladus.metal_kernel(SCALE, "scale")
    with pytest.raises((TypeError, ValueError), match="scale"):
        scale[shape]


@needs_simulator
def test_an_error_in_the_text_shows_its_line():
    broken = enceladus.metal_kernel(SCALE.replace("*= factor", "*= factr"), "scale")
    with pytest.raises(enceladus.MetalError, match="factr") as caught:
        broken[1, 32](np.zeros(4, np.float32), 1.0, 4)
    assert "kernel `scale`" in str(caught.value)
    assert "| if (i < n) x[i] *= factr;" in str(caught.value)


@needs_simulator
def test_a_store_out_of_bounds_is_reported():
    scale = enceladus.metal_kernel(SCALE, "scale")
    with pytest.raises(enceladus.OutOfBoundsError, match="program .0, 0, 0., thread 4"):
        scale[1, 32](np.zeros(4, np.float32), 1.0, 5)


@needs_simulator
def test_a_metal_kernel_runs_on_metal_alone():
    with enceladus.device("cpu"), pytest.raises(ValueError, match="is launched on cpu"):
        enceladus.metal_kernel(SCALE, "scale")[1, 32](np.zeros(4, np.float32), 1.0, 4)
