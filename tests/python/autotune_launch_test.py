"""Autotuned launches like an earlier one: quick, and never with the config of others."""

import gc
import weakref

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus import Config
from enceladus.tuning.autotuner import Autotuner
from enceladus.tuning.pruning import Pruning
from enceladus.tuning.session import Settings

pytestmark = pytest.mark.skipif(
    "cpu" not in [device.name for device in enceladus.devices()], reason="no CPU target"
)

CONFIGS = [Config({"BLOCK": 16}), Config({"BLOCK": 32})]
GRID = lambda meta: (1,)  # noqa: E731


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("ENCELADUS_INTERPRET", raising=False)
    with enceladus.device("cpu"):
        yield


@enceladus.jit
def block_kernel(x_ptr, n, scale=1.0, BLOCK: tl.constexpr = 8):
    tl.store(x_ptr, BLOCK + 0 * n)


class Counting(Autotuner):
    """Counts the launches that Python has to choose for."""

    chosen = 0

    def _launch(self, grid, args, kwargs):
        self.chosen += 1
        return super()._launch(grid, args, kwargs)


def counting(kernel=block_kernel, configs=CONFIGS, key=("n",), choose=None):
    """An autotuner; `choose` stands in for tuning: from every argument by name to an index."""
    prune = None
    if choose is not None:
        prune = lambda listed, named, **kwargs: [listed[choose({**named, **kwargs})]]  # noqa: E731
    return Counting(kernel, configs, key, Pruning(prune), Settings(warmup=0, rep=0), False)


def stored(tuned, *args, **kwargs):
    """What a launch stores: the BLOCK of its config."""
    x = enceladus.zeros(1, dtype="int32")
    tuned[GRID](x, *args, **kwargs)
    return x.item()


def test_a_launch_like_an_earlier_one_runs_no_python():
    tuned = counting()
    first = stored(tuned, 5)
    assert tuned.chosen == 1
    assert [stored(tuned, 5) for _ in range(5)] == [first] * 5
    assert [stored(tuned, 5, 2.5) for _ in range(3)] == [first] * 3
    assert tuned.chosen == 2  # once more for the launch with another number of arguments
    assert tuned.best_config.kwargs["BLOCK"] == first


def test_another_value_of_the_key_takes_its_own_config():
    tuned = counting(choose=lambda named: named["n"] % 2)
    for _ in range(3):
        assert [stored(tuned, n) for n in (2, 3, 4, 5)] == [16, 32, 16, 32]
    assert tuned.chosen == 4
    assert [stored(tuned, n=3), stored(tuned, n=4)] * 2 == [32, 16] * 2


def test_other_dtypes_and_types_take_their_own_config():
    tuned = counting(choose=lambda named: int(isinstance(named["n"], float)))
    assert [stored(tuned, n) for n in (2, 2.0, 2, 2.0, True, 2)] == [16, 32, 16, 32, 16, 16]
    by_array = counting(key=(), choose=lambda named: int(named["x_ptr"].dtype == "int64"))
    for _ in range(2):
        for dtype, block in (("int32", 16), ("int64", 32)):
            for make in (np.zeros, enceladus.zeros):
                x = make(1, dtype=dtype)
                by_array[GRID](x, 1)
                assert x[0].item() == block
    assert by_array.chosen == 4


def test_torch_tensors_are_remembered_too():
    torch = pytest.importorskip("torch")
    tuned = counting()
    x = torch.zeros(1, dtype=torch.int32)
    for _ in range(3):
        tuned[GRID](x, 4)
    assert tuned.chosen == 1 and x.item() in (16, 32)


def test_launch_options_and_keywords_pass_through_a_remembered_launch():
    tuned = counting()
    x = enceladus.zeros(1, dtype="int32")
    for _ in range(3):
        tuned[GRID](n=3, x_ptr=x, num_stages=2)
    assert tuned.chosen == 1 and x.item() in (16, 32)
    with pytest.raises(ValueError, match="num_stages"):
        tuned[GRID](n=3, x_ptr=x, num_stages=-1)


def test_a_choice_taken_out_of_the_cache_is_made_anew():
    index = [0]
    tuned = counting(choose=lambda named: index[0])
    assert stored(tuned, 1) == 16
    index[0] = 1
    assert stored(tuned, 1) == 16
    tuned.cache.clear()
    assert stored(tuned, 1) == 32


def test_the_grid_function_of_the_launch_is_the_one_that_counts():
    tuned = counting(choose=lambda named: 0)
    seen = []

    def grid(meta):
        seen.append((meta["BLOCK"], meta["n"]))
        return (1,)

    x = enceladus.zeros(1, dtype="int32")
    tuned[GRID](x, 7)
    tuned[grid](x, 7)
    tuned[grid](x, 7)
    assert seen == [(16, 7), (16, 7)]
    assert tuned.config_for(x, 7) is CONFIGS[0]
    with pytest.raises(TypeError, match="lambda meta"):
        tuned[(1,)](x, 7)


def test_the_hook_of_a_config_runs_before_every_launch():
    calls = []
    configs = [Config({"BLOCK": 16}, pre_hook=lambda named: calls.append(named["n"]))]
    tuned = counting(configs=configs)
    assert [stored(tuned, 3) for _ in range(3)] == [16, 16, 16]
    assert calls == [3, 3, 3]


def test_errors_of_a_remembered_launch_are_those_of_a_plain_one():
    tuned = counting()
    stored(tuned, 1)
    read_only = np.zeros(1, np.int32)
    tuned[GRID](read_only, 1)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="`x_ptr` of `block_kernel` is read-only"):
        tuned[GRID](read_only, 1)
    with pytest.raises(TypeError, match="missing"):
        tuned[GRID](n=1)


def test_the_interpreter_takes_the_first_config_of_a_remembered_launch(monkeypatch):
    tuned = counting(choose=lambda named: 1)
    x = np.zeros(1, np.int32)
    tuned[GRID](x, 1)
    assert x[0] == 32
    monkeypatch.setenv("ENCELADUS_INTERPRET", "1")
    tuned[GRID](x, 1)
    assert x[0] == 16


def test_autotuned_kernels_and_their_choices_can_be_collected():
    tuned = counting()
    stored(tuned, 1)
    gone = weakref.ref(tuned)
    del tuned
    gc.collect()
    assert gone() is None
