"""Compiles every kernel case for CUDA, and the text that comes out to machine code by NVRTC.

Needs no GPU; what the kernels compute is compared where there is one (test_cases.py).
"""

import importlib.util
import json
from pathlib import Path

import nvrtc
import pytest
from cases import CASES

import enceladus
import enceladus.language as tl
from enceladus import MockTensor, _core, _variants

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(
    nvrtc.library() is None, reason="NVRTC is not installed: pip install nvidia-cuda-nvrtc"
)


class Compiled(Exception):
    """Ends a launch once its kernel is compiled, and carries what came out."""

    def __init__(self, artifact: _core.Artifact) -> None:
        super().__init__()
        self.artifact = artifact


@pytest.fixture
def cuda_artifact(monkeypatch):
    """Compiles a kernel for CUDA, as the launcher specializes it for these arguments."""

    def compile_now(specialized, override):
        options = {
            **specialized.options,
            "device": "cuda",
            "math_mode": specialized.kernel.math_mode,
            "verify": True,
        }
        artifact, _, _ = _core.compile(specialized.kernel, list(specialized.specs), options)
        raise Compiled(artifact)

    def artifact_of(kernel, **arguments):
        fresh = enceladus.jit(kernel.fn, math_mode=kernel.math_mode, debug=kernel.debug)
        with enceladus.device("cpu"), pytest.raises(Compiled) as caught:
            fresh.warmup(**arguments)
        return caught.value.artifact

    monkeypatch.setenv("ENCELADUS_ALWAYS_COMPILE", "1")
    monkeypatch.delenv("ENCELADUS_INTERPRET", raising=False)
    monkeypatch.setattr(_variants, "compile_now", compile_now)
    return artifact_of


def machine_code(artifact) -> nvrtc.Compiled:
    text = dict(artifact.stages)["cuda"]
    compiled = nvrtc.compile_text(text)
    assert compiled.cubin, compiled.log + text
    return compiled


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_compiles_to_machine_code(case, cuda_artifact):
    options = {"num_warps": case.num_warps, **case.options}
    machine_code(cuda_artifact(case.kernel, **case.inputs(), **options))


def test_architectures_from_sm_80_on_take_the_text(cuda_artifact):
    artifact = cuda_artifact(example_kernel("02_softmax", "softmax_kernel"), **softmax_arguments())
    for architecture in ("sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"):
        assert nvrtc.compile_text(dict(artifact.stages)["cuda"], architecture).cubin, architecture


@pytest.mark.parametrize(
    "name",
    [
        "dot float8_e4m3fn with float8_e5m2 64x64x64",
        "convert float32 to float8_e4m3fn",
        "convert float8_e5m2 to float16",
        "toward zero float64 to float8_e4m3fn",
    ],
)
def test_devices_before_sm_89_take_float8_too(name, cuda_artifact):
    case = next(case for case in CASES if case.name == name)
    options = {"num_warps": case.num_warps, **case.options}
    artifact = cuda_artifact(case.kernel, **case.inputs(), **options)
    for architecture in ("sm_80", "sm_89", "sm_90a"):
        compiled = nvrtc.compile_text(dict(artifact.stages)["cuda"], architecture)
        assert compiled.cubin, architecture + compiled.log


def test_what_is_read_is_read_behind_the_wait_for_the_earlier_kernel(cuda_artifact):
    """ptxas moves loads of `const __restrict__` pointers in front of griddepcontrol.wait."""
    artifact = cuda_artifact(example_kernel("02_softmax", "softmax_kernel"), **softmax_arguments())
    signature, body = dict(artifact.stages)["cuda"].split("softmax_kernel(", 1)[1].split("{", 1)
    assert "const half* x_ptr" in signature, signature
    assert "enc_earlier_kernel();" in body.split("enc_load", 1)[0], body


@enceladus.jit(debug=True)
def reporting(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    tl.device_print("x", x)
    tl.device_assert(x > 0, "x is positive")


def test_reports_compile_to_machine_code(cuda_artifact):
    artifact = cuda_artifact(reporting, x_ptr=MockTensor("float64"))
    machine_code(artifact)
    text = dict(artifact.stages)["cuda"]
    assert 'printf("pid (%d, %d, %d) idx (%d) x: %f\\n"' in text
    assert "uint* messages)" in text


def example_kernel(module, name):
    """A kernel of an example; of an autotuned one the kernel beneath."""
    spec = importlib.util.spec_from_file_location(module, EXAMPLES / f"{module}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    kernel = getattr(loaded, name)
    return kernel if isinstance(kernel, enceladus.JITFunction) else kernel.fn


def softmax_arguments():
    x = MockTensor("float16")
    return {
        "x_ptr": x, "out_ptr": x, "columns": 4096, "x_stride": 4096, "out_stride": 4096,
        "BLOCK": 4096, "num_warps": 8,
    }  # fmt: skip


def matmul_arguments(dtype, size, blocks, warps):
    x = MockTensor(dtype)
    names = ("M", "N", "K", "stride_am", "stride_bk", "stride_cm")
    return {
        **dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), x),
        **dict.fromkeys(names, size),
        **dict(zip(("BM", "BN", "BK"), blocks, strict=True)),
        "num_warps": warps,
    }


@pytest.mark.parametrize(
    "dtype, size, blocks, warps",
    [
        ("float16", 4096, (128, 128, 32), 8),
        ("bfloat16", 4096, (128, 64, 32), 4),
        ("float16", 4096, (64, 64, 64), 4),
        ("float16", 513, (64, 64, 32), 4),
        ("float32", 4096, (64, 64, 32), 4),
    ],
)
def test_products_keep_their_sums_in_registers(cuda_artifact, dtype, size, blocks, warps):
    kernel = example_kernel("04_matmul", "descriptor_kernel")
    artifact = cuda_artifact(kernel, **matmul_arguments(dtype, size, blocks, warps))
    assert machine_code(artifact).spills == 0


@pytest.mark.parametrize("width, block, warps", [(64, 64, 8), (128, 64, 8)])
def test_attention_keeps_its_sums_in_registers(cuda_artifact, width, block, warps):
    x = MockTensor("float16")
    artifact = cuda_artifact(
        example_kernel("08_flash_attention", "attention_kernel"),
        **dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), x),
        S=4096, D=width, scale_log2=0.125, CAUSAL=True, BD=width, BM=128, BN=block,
        num_warps=warps,
    )  # fmt: skip
    assert machine_code(artifact).spills == 0


@enceladus.jit
def columns_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    start_m, start_n = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([start_m, k]), b.load([k, start_n]), acc)
    c.store([start_m, start_n], acc.to(c.dtype))


def columns_arguments(size):
    arrays = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), MockTensor("float16"))
    sizes = dict.fromkeys(("M", "N", "K"), size)
    return {**arrays, **sizes, "BM": 128, "BN": 256, "BK": 64, "num_warps": 8}


def assert_nothing_moves(compiled):
    """ptxas says where it moves sums that products still run on, or waits for them at once."""
    for message in ("C7510", "C7512", "C7514", "C7517", "C7519"):
        assert message not in compiled.log, compiled.log


def test_asynchronous_products_run_on_in_their_registers(cuda_artifact):
    compiled = machine_code(cuda_artifact(columns_kernel, **columns_arguments(4096)))
    assert compiled.spills == 0
    assert_nothing_moves(compiled)


@pytest.mark.parametrize("causal", [False, True])
def test_asynchronous_attention_runs_on_in_its_registers(cuda_artifact, causal):
    x = MockTensor("float16")
    artifact = cuda_artifact(
        example_kernel("08_flash_attention", "attention_kernel"),
        **dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), x),
        S=4096, D=128, scale_log2=0.125, CAUSAL=causal, BD=128, BM=128, BN=128, num_warps=8,
    )  # fmt: skip
    compiled = machine_code(artifact)
    assert compiled.spills == 0
    assert_nothing_moves(compiled)
    dots = json.loads(artifact.explain)["dots"]
    assert [(dot["backend"], dot["a"], dot["b"]) for dot in dots] == [
        ("wgmma", "TMA ring", "TMA ring"),
        ("wgmma", "registers", "TMA ring"),
    ]


def test_explain_says_what_multiplies_and_what_carries(cuda_artifact):
    content = json.loads(cuda_artifact(columns_kernel, **columns_arguments(4096)).explain)
    assert [dot["backend"] for dot in content["dots"]] == ["wgmma"]
    assert [access.get("by") for access in content["memory"]] == ["TMA ring", "TMA ring", "TMA"]
    content = json.loads(cuda_artifact(columns_kernel, **columns_arguments(4099)).explain)
    (dot,) = content["dots"]
    assert dot["backend"] == "mma"
    assert "not known to be a multiple of 16 bytes" in dot["not by wgmma"]
