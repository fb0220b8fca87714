"""Every example on NumPy arrays, Tensors and PyTorch tensors, with ragged sizes, and its script."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import enceladus
from enceladus.testing import assert_close
from enceladus.testing._close import to_numpy

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("[0-9]*.py"))


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["numpy", "tensor", "torch"])
def array(request):
    """Makes an array of each kind from a NumPy array."""
    if request.param == "torch":
        return pytest.importorskip("torch").from_numpy
    return enceladus.from_numpy if request.param == "tensor" else np.asarray


@pytest.fixture
def generator():
    return np.random.default_rng(7)


def random(generator, *shape):
    return generator.standard_normal(shape, np.float32)


def of_kind(result, like):
    assert type(result) is type(like)
    return np.asarray(result)


def test_there_are_twelve_examples():
    assert [name[:2] for name in SCRIPTS] == [f"{number:02}" for number in range(1, 13)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_runs_and_reports(name, capsys):
    load(name).main([])
    assert capsys.readouterr().out.strip()


# The others tune many configurations, which the simulator runs slowly; its own tests have them.
QUICK = ["01", "02", "03", "05", "06", "09", "10"]


@pytest.mark.skipif(
    "metal-sim" not in enceladus.devices(), reason="the simulator is for Linux on x86-64"
)
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name[:2] in QUICK])
def test_the_same_script_runs_on_the_simulated_metal(name, capsys):
    with enceladus.device("metal-sim"):
        load(name).main([])
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("size", [1, 4095, 10_001])
def test_vector_add(array, generator, size):
    x, y = random(generator, 2, size)
    result = load("01_vector_add").add(array(x), array(y))
    np.testing.assert_array_equal(of_kind(result, array(x)), x + y)


@pytest.mark.parametrize("shape", [(1, 1), (7, 100), (33, 1025)])
def test_softmax(array, generator, shape):
    module, x = load("02_softmax"), random(generator, *shape)
    assert_close(of_kind(module.softmax(array(x)), array(x)), module.reference(x), atol=1e-6)


def test_softmax_of_a_slice_of_a_wider_matrix(array, generator):
    module, x = load("02_softmax"), random(generator, 9, 300)
    result = module.softmax(array(x)[:, 3:204])
    assert_close(np.asarray(result), module.reference(x[:, 3:204]), atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 2), (5, 127), (17, 1100)])
def test_layer_norm(array, generator, shape):
    module, x = load("03_layer_norm"), random(generator, *shape)
    weight, bias = random(generator, 2, shape[1])
    result = module.layer_norm(array(x), array(weight), array(bias))
    assert_close(of_kind(result, array(x)), module.reference(x, weight, bias))


@pytest.mark.parametrize("form", ["descriptor", "pointer"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (65, 130, 33), (200, 77, 129)])
def test_matmul(array, generator, sizes, form):
    m, n, k = sizes
    a, b = random(generator, m, k), random(generator, k, n)
    result = load("04_matmul").matmul(array(a), array(b), form)
    assert_close(of_kind(result, array(a)), a @ b, atol=1e-5 * k**0.5)


def test_matmul_of_a_transposed_operand_with_pointers(array, generator):
    a, b = random(generator, 40, 70), random(generator, 50, 40)
    result = load("04_matmul").matmul(array(a).T, array(b).T, "pointer")
    assert_close(np.asarray(result), a.T @ b.T, atol=1e-5 * 40**0.5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1000), (21, 333)])
def test_bias_gelu(array, generator, shape):
    module, x = load("05_bias_gelu"), random(generator, *shape)
    bias = random(generator, shape[1])
    result = module.bias_gelu(array(x), array(bias))
    assert_close(of_kind(result, array(x)), module.reference(x, bias))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2048), (5, 5001)])
def test_rms_norm(array, generator, shape):
    module, x = load("06_rms_norm"), random(generator, *shape)
    weight = random(generator, shape[1])
    result = module.rms_norm(array(x), array(weight))
    assert_close(of_kind(result, array(x)), module.reference(x, weight))


@pytest.mark.parametrize("sizes", [(1, 1, 1), (65, 130, 33)])
def test_matmul_with_epilogue(array, generator, sizes):
    m, n, k = sizes
    module = load("07_matmul_epilogue")
    a, b, bias = random(generator, m, k), random(generator, k, n), random(generator, n)
    result = module.matmul_bias_gelu(array(a), array(b), array(bias))
    assert_close(of_kind(result, array(a)), module.reference(a, b, bias), atol=1e-5 * k**0.5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1, 16), (2, 3, 100, 64), (1, 2, 129, 40)])
def test_flash_attention(array, generator, shape, causal):
    module = load("08_flash_attention")
    q, k, v = random(generator, 3, *shape)
    result = module.attention(array(q), array(k), array(v), causal)
    assert_close(of_kind(result, array(q)), module.reference(q, k, v, causal))


@pytest.mark.parametrize(("size", "bins"), [(1, 1), (1000, 7), (30_001, 1000)])
def test_histogram(array, generator, size, bins):
    values = generator.integers(-1, bins + 1, size, np.int32)  # some fall outside
    counts = load("09_histogram").histogram(array(values), bins)
    inside = values[(values >= 0) & (values < bins)]
    np.testing.assert_array_equal(
        of_kind(counts, array(values)), np.bincount(inside, minlength=bins)
    )


@pytest.mark.parametrize("shape", [(1, 1), (3, 1024), (4, 3333)])
def test_cumsum(array, generator, shape):
    x = random(generator, *shape)
    expected = np.cumsum(x, axis=1, dtype=np.float64)
    result = of_kind(load("10_cumsum").cumsum(array(x)), array(x))
    assert_close(result, expected, atol=1e-5 * np.abs(expected).max())


def test_float8_matmul_multiplies_what_was_quantized(array, generator):
    module = load("12_float8_matmul")
    a, b = random(generator, 33, 100), random(generator, 65, 100)
    a[3] = 0  # a row without a scale of its own
    quantized = [module.quantize(array(x)) for x in (a, b)]
    values = [to_numpy(pair[0]).astype(np.float64) for pair in quantized]
    scales = [np.asarray(pair[1], np.float64) for pair in quantized]
    exact = values[0] * scales[0][:, None] @ (values[1] * scales[1][:, None]).T
    result = of_kind(module.matmul(*quantized), array(a))
    assert_close(result, exact.astype(np.float32), atol=1e-4)
    assert np.linalg.norm(exact - a @ b.T) < 0.05 * np.linalg.norm(exact)


def test_digits_network_reaches_95_percent(array):
    module = load("11_digits")
    (x, labels), (test_x, test_labels) = module.load_digits()
    network = module.train(array(x), array(labels))
    assert module.accuracy(network, array(test_x), test_labels) >= 0.95
