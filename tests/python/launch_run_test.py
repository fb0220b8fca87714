"""Compiled launches: what waits, what is kept alive, what is refused, what leaks nothing."""

from __future__ import annotations

import gc
import threading
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import enceladus
import enceladus.language as tl
from counting import module_of
from enceladus import _ceilings, _core


@enceladus.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


@enceladus.jit
def increment(x_ptr, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1, mask=mask)


def grid(meta: dict[str, Any]) -> tuple[int]:
    return (enceladus.cdiv(meta["n"], meta["BLOCK"]),)


@pytest.fixture
def asynchronous() -> Iterator[None]:
    enceladus.async_numpy(True)
    yield
    enceladus.async_numpy(False)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.parametrize("kind", ["numpy", "torch", "tensor"])
def test_every_kind_of_array_is_written_in_place(kind: str) -> None:
    x = np.arange(1000, dtype=np.float32)
    make: Any = {"numpy": np.copy, "torch": torch.tensor, "tensor": enceladus.from_numpy}[kind]
    arrays = [make(x), make(x), make(0 * x)]
    add[grid](*arrays, 1000)
    np.testing.assert_array_equal(np.asarray(arrays[2]), 2 * x)


def test_a_slice_with_a_step_starts_where_it_starts() -> None:
    x = np.zeros(100, np.float32)
    increment[grid](x[10:], 5)
    assert x.sum() == 5 and (x[10:15] == 1).all()


def test_a_read_only_array_may_be_read_but_not_written() -> None:
    x = np.ones(64, np.float32)
    x.flags.writeable = False
    out = np.zeros(64, np.float32)
    add[grid](x, x, out, 64)
    assert (out == 2).all()
    with pytest.raises(
        ValueError, match="argument `out_ptr` of `add` is read-only, but the kernel"
    ):
        add[grid](out, out, x, 64)
    assert (x == 1).all()


def test_arrays_that_overlap_give_the_sequential_result() -> None:
    x = np.ones(128, np.float32)
    add[(1,)](x[:64], x[32:96], x[64:], 64)
    assert (x[64:128] == 2).all()


def test_launches_on_numpy_wait_unless_told_not_to(asynchronous: None) -> None:
    x = np.zeros(1000, np.float32)
    for _ in range(20):
        increment[grid](x, 1000)
    enceladus.synchronize()
    assert (x == 20).all()


def test_an_asynchronous_launch_keeps_its_arrays_alive(asynchronous: None) -> None:
    source = enceladus.zeros(1 << 20)
    for _ in range(10):
        scratch = np.zeros(1 << 20, np.float32)
        increment[grid](scratch, 1 << 20)
        add[grid](source, scratch, source, 1 << 20)
        del scratch
    assert (source.numpy() == 10).all()


def test_what_waits_can_be_refused_and_named() -> None:
    x = np.zeros(64, np.float32)
    tensor = enceladus.from_numpy(x)
    before = _core.forbid_waiting(True)
    try:
        increment[grid](tensor, 64)
        increment[grid](torch.zeros(64), 64)
        with pytest.raises(enceladus.EnceladusError, match="argument `y_ptr` is a NumPy array"):
            add[grid](tensor, x, tensor, 64)
        failures: list[Exception] = []

        def elsewhere() -> None:
            try:
                increment[grid](x, 64)
            except Exception as failure:
                failures.append(failure)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert not failures
    finally:
        _core.forbid_waiting(before)


def test_threads_launch_at_once() -> None:
    tensors = [enceladus.zeros(1000) for _ in range(4)]

    def work(tensor: Any) -> None:
        for _ in range(200):
            increment[grid](tensor, 1000)

    threads = [threading.Thread(target=work, args=(tensor,)) for tensor in tensors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((tensor.numpy() == 200).all() for tensor in tensors)


def test_ten_thousand_launches_leave_memory_flat() -> None:
    x, y, out = (enceladus.zeros(64) for _ in range(3))
    launch = add[(1,)]

    def many(count: int) -> None:
        for _ in range(count):
            launch(x, y, out, 64)
        enceladus.synchronize()

    many(1000)
    gc.collect()
    tracemalloc.start()
    many(10_000)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 20_000  # bytes; one object kept by each launch would be 160,000 and more


def test_two_hundred_dropped_kernels_leave_memory_flat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path))
    text = """
import enceladus, enceladus.language as tl
@enceladus.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, {value} + tl.zeros((BLOCK,), tl.float32), mask=offsets < n)
"""
    out = enceladus.zeros(64)

    def compile_one(value: int) -> Any:
        kernel = module_of(text.format(value=value))["fill"]
        kernel[(1,)](out, 64, BLOCK=64)
        assert out[0].item() == value
        return weakref.ref(kernel)

    def compile_many(first: int, count: int) -> None:
        kernels = [compile_one(value) for value in range(first, first + count)]
        gc.collect()
        assert not any(kernel() for kernel in kernels)

    compile_many(0, 50)
    before = resident_bytes()
    compile_many(50, 200)
    # Sources stay in linecache (ours to drop) and the allocator keeps some pages; 200 kernels kept
    # by mistake would be 20 MB of text and code.
    assert resident_bytes() - before < 8 << 20


def test_a_compiled_kernel_shows_its_stages() -> None:
    compiled = add.warmup(*[enceladus.MockTensor("float32")] * 3, 100)
    assert isinstance(compiled, enceladus.CompiledKernel)
    assert compiled.ir and compiled.source == compiled.llir == compiled.asm["llir"]
    assert compiled.num_warps == 4
    assert compiled.shared_memory_bytes == compiled.threadgroup_memory_bytes == 0
    assert compiled.registers is None or compiled.registers > 0
    uses = [(p.name, p.is_read, p.is_written) for p in compiled.artifact.parameters]
    assert uses == [
        ("x_ptr", True, False),
        ("y_ptr", True, False),
        ("out_ptr", False, True),
        ("n", False, False),
    ]
    with pytest.raises(AttributeError, match="has no stage 'msl'; it has ir, llir"):
        _ = compiled.msl


def array_at(offset: int, count: int) -> np.ndarray[Any, Any]:
    """float32 that begins `offset` bytes behind a multiple of 64."""
    memory = np.zeros(4 * count + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    return memory[start : start + 4 * count].view(np.float32)


@pytest.mark.parametrize("offset", [0, 4, 16, 20, 48])
def test_large_results_are_right_wherever_they_begin(offset: int) -> None:
    count = (1 << 22) + 3  # more than 32 MB in three arrays: stored around the caches
    x = np.random.default_rng(0).standard_normal(count, np.float32)
    y, out = x[::-1].copy(), array_at(offset, count)
    add[grid](x, y, out, n=count, BLOCK=1024)
    np.testing.assert_array_equal(out, x + y)


def test_streaming_stores_need_what_numpy_aligns_to() -> None:
    # A large NumPy array begins 16 bytes behind a page: whole vectors are never aligned there.
    compiled = add.warmup(*[enceladus.MockTensor("float32")] * 3, 100)
    streamed = [line for line in compiled.llir.splitlines() if "!nontemporal" in line]
    assert streamed
    assert all("align 16" in line for line in streamed), streamed


def test_a_warmed_up_kernel_launches_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = enceladus.jit(add.fn)
    kernel.warmup(*[enceladus.MockTensor("float32")] * 3, 100, num_warps=8)
    monkeypatch.setattr(_core, "compile", None)
    tensors = [enceladus.zeros(128) for _ in range(3)]
    kernel[grid](*tensors, 100, num_warps=8)


def test_explain_prints_and_returns_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    report = add.explain(*[enceladus.MockTensor("float32")] * 3, 100, grid=(2,))
    assert capsys.readouterr().out == report + "\n"
    content = report.to_dict()
    assert content["kernel"] == "add" and content["target"] == "cpu" and content["programs"] == 2
    assert content["bytes"] == 2 * content["bytes_per_program"] == 2 * 3 * 64 * 4
    assert [(row["access"], row["array"], row["bytes"]) for row in content["memory"]] == [
        ("load", "x_ptr", 256),
        ("load", "y_ptr", 256),
        ("store", "out_ptr", 256),
    ]
    assert {row["place"] for row in content["tiles"]} == {"vector registers"}
    assert content["memory"][2]["source"] == "tl.store(out_ptr + offsets, total, mask=mask)"
    assert "<td>out_ptr</td>" in report._repr_html_()


def test_explain_shows_products_scratch_and_assumed_loops() -> None:
    @enceladus.jit
    def product(a_ptr, b_ptr, c_ptr, K, S: tl.constexpr, SCALE: tl.constexpr = False):
        a = tl.make_tensor_descriptor(a_ptr, [S, K], [K, 1], [S, S])
        b = tl.make_tensor_descriptor(b_ptr, [K, S], [S, 1], [S, S])
        acc = tl.zeros((S, S), dtype=tl.float32)
        for k in range(0, K, S):
            acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
            if SCALE:
                acc *= 2
        total = tl.sum(acc, axis=0)
        tl.store(c_ptr + tl.arange(0, S), total / tl.max(total, axis=0))

    half, single = enceladus.MockTensor("float16"), enceladus.MockTensor("float32")
    content = product.explain(half, half, single, 64, S=16).to_dict()
    (dot,) = content["dots"]
    assert (dot["shape"], dot["operands"]) == ("16x16x16", "float16 @ float16")
    assert dot["accumulator"] == "float32"
    assert dot["multiplied_by"] == "float32 multiply-adds"
    assert "whole loop over K" in dot["path"] and "reason" not in dot
    scaled = product.explain(half, half, single, 64, S=16, SCALE=True).to_dict()["dots"][0]
    assert scaled["path"].startswith("tiles in scratch") and "another use" in scaled["reason"]
    assert "run-time" in content["loops"]
    assert content["scratch_bytes"] > 0


def test_explain_says_what_a_kernel_is_bound_by(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_ceilings, "_known", {})
    arrays = [enceladus.MockTensor("float32")] * 3
    roofline = add.explain(*arrays, 100, grid=(1000,)).to_dict()["roofline"]
    assert roofline["bound_by"] == "memory"
    measured = _ceilings.ceilings_of("cpu")
    assert measured is not None
    # Within an order of magnitude of every machine that this could run on.
    assert 1e9 < measured.bytes_per_second < 1e13
    assert 1e9 < measured.operations_per_second < 1e15
    least = 1000 * 3 * 64 * 4 / measured.bytes_per_second
    assert roofline["least_ms"] == pytest.approx(least * 1e3, rel=1e-3)

    # Another process finds the figures on disk, and measures again where they are damaged.
    monkeypatch.setattr(_ceilings, "_known", {})
    monkeypatch.setattr(_core, "multiply_add_rate", lambda: 1e15)
    assert _ceilings.ceilings_of("cpu") == measured
    (kept,) = tmp_path.glob("ceilings-*.json")
    kept.write_text(kept.read_text()[:-4])
    monkeypatch.setattr(_ceilings, "_known", {})
    again = add.explain(*arrays, 100).to_dict()["roofline"]
    assert again["multiply_add_gflop_per_s"] == 1e6


def test_explain_of_a_product_is_bound_by_arithmetic() -> None:
    @enceladus.jit
    def product(x_ptr, S: tl.constexpr):
        offsets = tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :]
        x = tl.load(x_ptr + offsets)
        tl.store(x_ptr + offsets, tl.dot(x, x))

    report = product.explain(enceladus.MockTensor("float32"), S=256)
    assert report.to_dict()["roofline"]["bound_by"] == "arithmetic"
    assert "bound by arithmetic" in report
    # The text says that it is a product's, so that its assembly is what runs.
    assert "enceladus-has-products" in product.warmup(enceladus.MockTensor("float32"), S=256).llir
    plain = add.warmup(*[enceladus.MockTensor("float32")] * 3, 100)
    assert "enceladus-has-products" not in plain.llir


def test_columns_of_errors_count_characters() -> None:
    @enceladus.jit
    def accented(x_ptr, r: tl.constexpr):
        naïve = r
        v = naïve + é  # noqa: F821
        tl.store(x_ptr, v)

    with pytest.raises(enceladus.CompilationError) as caught:
        accented[(1,)](enceladus.zeros(4), 1)
    diagnostic = caught.value.diagnostics[0]
    line = Path(diagnostic.file).read_text().splitlines()[diagnostic.line - 1]
    assert line[diagnostic.column - 1] == "é"
    shown, caret = str(caught.value).splitlines()[1:3]
    assert caret.count("^") == 1 and caret.index("^") == shown.index("é")


def test_a_kernel_of_too_many_operations_is_refused_before_the_stack_overflows() -> None:
    @enceladus.jit
    def unrolled(x_ptr, N: tl.constexpr):
        v = tl.load(x_ptr + tl.arange(0, 64))
        for i in tl.static_range(N):
            v = v * 1.5 + i
            v = v * 1.5 - i
            v = v * 2.5 + i
        tl.store(x_ptr + tl.arange(0, 64), v)

    with pytest.raises(
        enceladus.CompilationError, match="(?s)operations.*in place of .tl.static_range"
    ):
        unrolled[(1,)](enceladus.zeros(64), N=5000)
