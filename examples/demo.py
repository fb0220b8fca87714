"""A tour in a minute: kernels compiled, tuned, checked and timed on this machine."""

import importlib.util
import time
from pathlib import Path

import numpy as np

import enceladus
from enceladus.testing import assert_close, do_bench


def example(name):
    """The module of an example beside this file."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def host_time(work):
    """The best of a few runs of host code, in milliseconds."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


def show(title, ours, numpy, amount, unit):
    """One line of the table: times, the rate, and how NumPy compares."""
    rate = amount / ours * 1e-6
    print(f"{title:32}{ours:10.3f} ms{numpy:12.3f} ms{numpy / ours:8.1f}x{rate:9.1f} {unit}")


def vector_add(generator):
    module = example("01_vector_add")
    x, y = generator.standard_normal((2, 1 << 24), np.float32)
    tensors = [enceladus.from_numpy(array) for array in (x, y)]
    assert_close(module.add(*tensors), x + y, atol=0, rtol=0)
    out = np.empty_like(x)  # both write into an array that exists
    ours_out = enceladus.new_empty(tensors[0])
    launch = module.add_kernel[(enceladus.cdiv(x.size, 4096),)]
    ours = do_bench(lambda: launch(*tensors, ours_out, x.size, BLOCK=4096))
    show("vector add, 2^24", ours, host_time(lambda: np.add(x, y, out=out)), 12 * x.size, "GB/s")


def softmax(generator):
    module = example("02_softmax")
    x = generator.standard_normal((4096, 2048), np.float32)
    tensor = enceladus.from_numpy(x)
    assert_close(module.softmax(tensor), module.reference(x), atol=1e-6)
    ours = do_bench(lambda: module.softmax(tensor))
    show("softmax, 4096x2048", ours, host_time(lambda: module.reference(x)), 8 * x.size, "GB/s")


def matmul(generator):
    module = example("04_matmul")
    a, b = generator.standard_normal((2, 1024, 1024), np.float32)
    tensors = [enceladus.from_numpy(array) for array in (a, b)]
    assert_close(module.matmul(*tensors), a @ b, atol=1e-5 * 32)
    ours = do_bench(lambda: module.matmul(*tensors))
    amount = 2 * 1024**3
    show("matmul, 1024^3, tuned", ours, host_time(lambda: a @ b), amount, "GFLOP/s")
    print(f"  chose {module.descriptor_kernel.best_config}")


def attention(generator):
    module = example("08_flash_attention")
    q, k, v = generator.standard_normal((3, 1, 8, 1024, 64), np.float32)
    tensors = [enceladus.from_numpy(array) for array in (q, k, v)]
    assert_close(module.attention(*tensors, True), module.reference(q, k, v, True))
    ours = do_bench(lambda: module.attention(*tensors, True))
    numpy = host_time(lambda: module.reference(q, k, v, True))
    show("causal flash attention, 8x1024x64", ours, numpy, 2 * 8 * 1024**2 * 64, "GFLOP/s")
    print(f"  chose {module.attention_kernel.best_config}")


def main():
    print(f"devices: {', '.join(str(device) for device in enceladus.devices())}")
    print(f"{'':32}{'Enceladus':>13}{'NumPy':>15}{'gain':>9}{'rate':>10}")
    generator = np.random.default_rng(0)
    for part in (vector_add, softmax, matmul, attention):
        part(generator)
    print("every result agrees with NumPy")


if __name__ == "__main__":
    main()
