"""Python kernels to Metal text: what the seed page promises of it, and what explain reports."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus import _core
from enceladus.configs import attention_configs, matmul_configs
from enceladus.explain import content_of
from frontend_helpers import specs
from needs import needs_simulator


@enceladus.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [stride_am, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [stride_bk, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [stride_cm, 1], [BM, BN])
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pid_m * BM, k]), b.load([k, pid_n * BN]), acc)
    c.store([pid_m * BM, pid_n * BN], acc.to(c.dtype))


@enceladus.jit
def bias_gelu_kernel(a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, BM: tl.constexpr, BK: tl.constexpr):
    pid_n, pid_m = tl.program_id(0), tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BM, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BM])
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pid_m * BM, k]), b.load([pid_n * BM, k]).T, acc)
    columns = pid_n * BM + tl.arange(0, BM)
    acc = acc + tl.load(bias_ptr + columns, mask=columns < N)[None, :]
    acc = 0.5 * acc * (1 + tl.erf(acc * 0.7071067811865476))
    c.store([pid_m * BM, pid_n * BM], acc.to(c.dtype))


@enceladus.jit
def debug_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.device_print("x", x)
    tl.device_assert(x >= 0, "x must not be negative", mask=offsets < n)


@enceladus.jit
def vertex(device, constant, half, n, thread, BLOCK: tl.constexpr):
    threadgroup = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    simd_sum = tl.load(device + threadgroup, mask=threadgroup < n)
    shared, program, scalars, as_type = simd_sum * half, simd_sum, n, thread
    float4 = tl.sum(shared + program, axis=0)
    tl.store(constant + threadgroup, float4 + scalars + as_type, mask=threadgroup < n)


@enceladus.jit
def waves_kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, tl.sin(x) + tl.cos(x) * tl.exp(x))


TILE = {"BM": 64, "BN": 64, "BK": 32}
HALVES = {"a_ptr": "*float16", "b_ptr": "*float16", "c_ptr": "*float16", "bias_ptr": "*float32"}


def compiled(kernel: Any, options: dict[str, Any] | None = None, **kinds: Any) -> _core.Artifact:
    """The artifact for Metal, with facts as a launch on tensors of their own would give."""
    facts = {"device": "metal", "arrays_disjoint": True, "arrays_small": True, "verify": True}
    artifact, _, _ = _core.compile(kernel, specs(kernel, **kinds), facts | (options or {}))
    return artifact


def msl(artifact: _core.Artifact) -> str:
    return artifact.stages["msl"]


@pytest.mark.parametrize("backend", ["auto", "simdgroup"])
def test_the_seeds_matmul_needs_no_threadgroup_memory_and_no_barrier(backend):
    artifact = compiled(matmul_kernel, {"dot_backend": backend}, **HALVES, **TILE)
    assert artifact.shared_bytes == 0
    assert "barrier(" not in msl(artifact)
    assert "simdgroup_multiply_accumulate" in msl(artifact)


@pytest.mark.parametrize("kernel", [matmul_kernel, bias_gelu_kernel])
def test_mpp_multiplies_by_one_matmul2d(kernel):
    artifact = compiled(kernel, {"dot_backend": "mpp"}, **HALVES, **TILE)
    assert msl(artifact).count("matmul2d<") == 1
    assert artifact.language_version == 40
    dots = json.loads(artifact.explain)["dots"]
    assert [(dot["backend"], dot["a"], dot["b"]) for dot in dots] == [("mpp", "direct", "direct")]


def test_explain_says_how_a_dot_is_computed_and_why_not_otherwise():
    options = {"dot_backend": "mpp", "dot_warps": (2, 2), "architecture": "apple9"}
    report = json.loads(compiled(matmul_kernel, options, **HALVES, **TILE).explain)
    dot = report["dots"][0]
    assert dot["backend"] == "simdgroup"
    assert dot["warps"] == "2x2"
    assert dot["reason"] == "this GPU or its system has no Metal 4"
    assert dot["shape"] == "64x64x32"
    tiles = {tile["name"]: tile for tile in report["tiles"]}
    assert tiles["acc"]["registers"] == 32
    assert tiles["acc"]["layout"].startswith("register: axis 1 by 1")
    assert report["language"] == "Metal 3.1"
    assert report["barriers"] == [] and report["shared_memory"] == []


def test_explain_of_metal_renders():
    artifact = compiled(matmul_kernel, **HALVES, **TILE)

    class Compiled:
        name = "matmul_kernel"

    Compiled.artifact = artifact
    content = content_of(Compiled, (4, 4))
    assert content["dots"][0]["source"].startswith("acc = tl.dot(")


def test_print_and_assert_reach_the_text():
    artifact = compiled(debug_kernel, {"debug": True}, x_ptr="*float32", BLOCK=64)
    assert artifact.language_version == 32
    assert artifact.logs
    assert 'os_log_default.log("pid (%d, %d, %d) idx (%d) x: %f"' in msl(artifact)
    (message,) = artifact.messages
    assert message.endswith(": assertion failed: x must not be negative")
    assert __file__ in message
    assert compiled(debug_kernel, x_ptr="*float32", BLOCK=64).messages == []


def test_a_warning_names_the_largest_tile_and_the_remedy():
    tile = {"BM": 256, "BN": 128, "BK": 32}
    (warning,) = compiled(matmul_kernel, **HALVES, **tile).warnings
    assert "takes 256 registers a thread with num_warps=4" in warning
    assert "num_warps=8" in warning


def test_a_tile_that_no_thread_can_hold_is_refused():
    tile = {"BM": 256, "BN": 256, "BK": 32}
    with pytest.raises(enceladus.CompilationError, match="takes 512 registers a thread"):
        compiled(matmul_kernel, **HALVES, **tile)


def test_a_warp_grid_that_does_not_fit_is_refused_at_the_dot():
    tile = {"BM": 16, "BN": 64, "BK": 32}
    with pytest.raises(enceladus.CompilationError, match=r"dot_warps=\(4, 1\)") as caught:
        compiled(matmul_kernel, {"dot_warps": (4, 1)}, **HALVES, **tile)
    assert "tl.dot(a.load" in str(caught.value)


@needs_simulator
def test_names_that_metal_has_for_itself_are_kept_clear_of():
    x, y = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    with enceladus.device("metal-sim"):
        vertex[(1,)](x, y, 0.5, 50, 3, BLOCK=64)
    np.testing.assert_array_equal(y, np.full(50, x.sum() * 1.5 + 53, np.float32))


@pytest.mark.parametrize(
    "mode, space", [("relaxed", "precise"), ("precise", "precise"), ("fast", "fast")]
)
def test_functions_are_precise_in_every_math_mode_but_fast(mode, space):
    kinds: dict[str, Any] = {"x_ptr": "*float32", "y_ptr": "*float32", "BLOCK": 64}
    artifact = compiled(waves_kernel, {"math_mode": mode}, **kinds)
    for name in ("sin", "cos", "exp"):
        assert f" {space}::{name}(" in msl(artifact)


# Fragments of 8 x 8 a warp, along rows and columns of a product, that are known to spill.
SPILLS = {"float32": {(4, 4), (2, 16), (8, 4)}, "float16": {(8, 4)}, "bfloat16": {(8, 4)}}


def fragments_of(config: enceladus.Config, rows: int, columns: int) -> tuple[int, int]:
    warps = config.dot_warps or (config.num_warps, 1)
    return rows // 8 // warps[0], columns // 8 // warps[1]


@needs_simulator
@pytest.mark.parametrize("dtype", SPILLS)
def test_configs_for_metal_leave_out_what_is_known_to_spill(dtype):
    with enceladus.device("metal-sim"):
        for config in matmul_configs(dtype):
            shape = fragments_of(config, config.kwargs["BM"], config.kwargs["BN"])
            assert shape not in SPILLS[dtype], config
        for head_dim in (16, 32, 64, 128, 256):
            for config in attention_configs(dtype, head_dim):
                rows, keys = config.kwargs["BM"], config.kwargs["BN"]
                assert fragments_of(config, rows, keys) not in SPILLS[dtype], config
                assert fragments_of(config, rows, head_dim) not in SPILLS[dtype], config
