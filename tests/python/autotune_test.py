"""The autotuner over a kernel object without a compiler: choosing, undoing trials, remembering."""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings

import numpy as np
import pytest

import enceladus
from enceladus import Config, autotune, heuristics
from enceladus.tuning import contest
from fake_kernel import CONFIGS, GRID, FakeKernel, arrays, make_kernel, tuned


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("ENCELADUS_INTERPRET", raising=False)
    return tmp_path / "cache" / "autotune"


def test_config_repr_can_be_pasted():
    config = Config(
        {"BM": 64, "BN": 32, "BK": 32}, num_warps=4, dot_warps=(4, 1), dot_backend="mpp"
    )
    assert repr(config) == (
        "enceladus.Config({'BM': 64, 'BN': 32, 'BK': 32}, "
        "num_warps=4, dot_warps=(4, 1), dot_backend='mpp')"
    )
    assert eval(repr(config), {"enceladus": enceladus}) == config


def test_configs_are_equal_and_hash_by_value():
    assert Config({"A": 1, "B": 2}) == Config({"B": 2, "A": 1})
    assert hash(Config({"A": 1, "B": 2})) == hash(Config({"B": 2, "A": 1}))
    assert Config({"A": 1}) != Config({"A": 1}, num_warps=8)
    assert Config({"A": 1}) != Config({"A": 1}, pre_hook=print)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_warps": 3}, "power of two"),
        ({"dot_warps": (2, 1)}, "arranges 2 warps, but num_warps is 4"),
        ({"dot_backend": "tensor"}, "the backends are auto, simdgroup"),
        ({"num_stages": 0}, "at least 1"),
    ],
)
def test_config_refuses_options_that_no_target_takes(options, message):
    with pytest.raises(ValueError, match=message):
        Config({}, **options)


def test_the_fastest_config_is_launched_and_remembered():
    kernel = make_kernel(reads=["x"], writes=["y"])
    fast = tuned(kernel)
    x, y = arrays()
    fast[GRID](x, y, 4)
    assert fast.best_config == CONFIGS[1]
    assert kernel.launches[-1]["BLOCK"] == 32
    trials = len(kernel.launches)
    fast[GRID](x, y, 4)
    assert len(kernel.launches) == trials + 1
    assert fast.config_for(x, y, 4) == CONFIGS[1]
    assert set(fast.configs_timings) == set(CONFIGS)


def test_other_key_values_and_dtypes_tune_again():
    kernel = make_kernel()
    fast = tuned(kernel)
    x, y = arrays()
    for arguments in [(x, y, 4), (x, y, 5), (x.astype(np.float16), y, 4)]:
        before = len(kernel.compiled)
        fast[GRID](*arguments)
        assert len(kernel.compiled) == before + 3
    assert len(fast.cache) == 3


def test_a_kernel_that_updates_its_argument_has_run_once_after_the_first_launch():
    def body(named):
        named["x"] += 1

    fast = tuned(make_kernel(body=body, reads=["x"], writes=["x"]))
    x, y = arrays()
    fast[GRID](x, y, 4)
    np.testing.assert_array_equal(x, [1, 2, 3, 4])


def test_trials_of_an_updating_kernel_all_see_the_first_state():
    seen = []

    def body(named):
        seen.append(named["x"].copy())
        named["x"] += 1

    tuned(make_kernel(body=body, reads=["x"], writes=["x"]))[GRID](*arrays(), 4)
    assert len(seen) > 6
    for state in seen:
        np.testing.assert_array_equal(state, [0, 1, 2, 3])


def test_only_the_chosen_configs_stores_are_there():
    def body(named):
        named["y"][: named["BLOCK"] // 16] = named["BLOCK"]

    fast = tuned(make_kernel(body=body, writes=["y"]))
    x, y = arrays()
    fast[GRID](x, y, 4)
    np.testing.assert_array_equal(y, [32, 32, 0, 0])


def test_an_output_that_shares_memory_with_an_input_is_restored_before_each_trial():
    def body(named):
        named["y"][...] = named["x"] * 2

    x, _ = arrays()
    tuned(make_kernel(body=body, reads=["x"], writes=["y"]))[GRID](x, x[:], 4)
    np.testing.assert_array_equal(x, [0, 2, 4, 6])


def test_reset_to_zero_and_restore_value_act_before_each_trial():
    seen = []

    def body(named):
        seen.append((named["x"].copy(), named["y"].copy()))
        named["x"] += 1
        named["y"] += 1

    kernel = make_kernel(body=body)
    fast = tuned(kernel, reset_to_zero=["y"], restore_value=["x"])
    x, y = arrays()
    y += 7
    fast[GRID](x, y, 4)
    for state_x, state_y in seen[:-1]:
        np.testing.assert_array_equal(state_x, [0, 1, 2, 3])
        np.testing.assert_array_equal(state_y, 0)
    np.testing.assert_array_equal(y, 8)  # the real launch found what the user had put there


def test_a_failing_config_is_skipped_with_one_warning():
    def compile_one(named):
        if named["BLOCK"] == 32:
            raise enceladus.CompilationError("too many registers")

    kernel = make_kernel(compile=compile_one)
    fast = tuned(kernel)
    with pytest.warns(UserWarning, match="skipped 1 of 3 configs") as caught:
        fast[GRID](*arrays(), 4)
    assert len(caught) == 1
    assert "too many registers" in str(caught[0].message)
    assert fast.best_config == CONFIGS[0]


def test_a_config_that_fails_to_launch_is_skipped():
    def body(named):
        if named["BLOCK"] == 32:
            raise enceladus.EnceladusError("launch failed")

    fast = tuned(make_kernel(body=body))
    with pytest.warns(UserWarning, match="launch failed"):
        fast[GRID](*arrays(), 4)
    assert fast.best_config == CONFIGS[0]


def test_when_all_configs_fail_the_first_error_is_raised():
    def compile_one(named):
        raise enceladus.CompilationError(f"bad {named['BLOCK']}")

    with pytest.raises(enceladus.CompilationError, match="bad 16"):
        tuned(make_kernel(compile=compile_one))[GRID](*arrays(), 4)


def test_candidates_are_compiled_in_parallel():
    barrier = threading.Barrier(2, timeout=20)
    kernel = make_kernel(compile=lambda named: barrier.wait())
    tuned(kernel, configs=CONFIGS[:2])[GRID](*arrays(), 4)


def test_ctrl_c_leaves_the_arguments_and_nothing_remembered(cache_folder):
    def body(named):
        named["x"] += 1
        if interrupted and named["BLOCK"] == 32:
            raise KeyboardInterrupt

    interrupted = True
    kernel = make_kernel(body=body, reads=["x"], writes=["x"])
    fast = tuned(kernel)
    x, y = arrays()
    with pytest.raises(KeyboardInterrupt):
        fast[GRID](x, y, 4)
    np.testing.assert_array_equal(x, [0, 1, 2, 3])
    assert not fast.cache
    assert not list(cache_folder.glob("*.json"))
    interrupted = False
    fast[GRID](x, y, 4)
    np.testing.assert_array_equal(x, [1, 2, 3, 4])


def test_hooks_are_called_around_each_trial_and_the_configs_own_before_each_launch():
    calls = []
    configs = [
        Config({"BLOCK": 16}),
        Config({"BLOCK": 32}, pre_hook=lambda named: calls.append(("config", named["BLOCK"]))),
    ]
    kernel = make_kernel(body=lambda named: calls.append(("run", named["BLOCK"])))
    fast = tuned(
        kernel,
        configs=configs,
        pre_hook=lambda named, reset_only=False: calls.append(("pre", reset_only)),
        post_hook=lambda named, exception: calls.append(("post", exception)),
    )
    fast[GRID](*arrays(), 4)
    assert calls[:3] == [("pre", False), ("run", 16), ("post", None)]
    assert calls[-3:] == [("pre", True), ("config", 32), ("run", 32)]
    assert ("config", 16) not in calls
    fast[GRID](*arrays(), 4)
    assert calls[-2:] == [("config", 32), ("run", 32)]


def test_pruning_as_in_triton():
    kernel = make_kernel()
    fast = tuned(
        kernel,
        prune_configs_by={
            "early_config_prune": lambda configs, named, **kwargs: [
                config for config in configs if config.kwargs["BLOCK"] > named["n"]
            ],
            "perf_model": lambda x, y, n, BLOCK, num_warps, **rest: BLOCK,  # noqa: N803
            "top_k": 1,
        },
    )
    fast[GRID](*arrays(), 16)
    assert fast.best_config == CONFIGS[1]
    assert not kernel.compiled  # one candidate is left: nothing to compare


def test_pruning_everything_is_an_error():
    fast = tuned(make_kernel(), prune_configs_by={"early_config_prune": lambda *a, **k: []})
    with pytest.raises(ValueError, match="left no config"):
        fast[GRID](*arrays(), 4)


def test_check_candidates_warns_where_they_disagree():
    def body(named):
        named["y"][...] = 1 if named["BLOCK"] == 64 else 2

    fast = tuned(make_kernel(body=body, writes=["y"]), check_candidates=True)
    with pytest.warns(UserWarning, match=r"'BLOCK': 64.*stores other values in `y`"):
        fast[GRID](*arrays(), 4)


def test_check_candidates_is_silent_where_they_agree():
    def body(named):
        named["y"][...] = named["x"] * (1 + named["BLOCK"] * 1e-9)

    fast = tuned(make_kernel(body=body, reads=["x"], writes=["y"]), check_candidates=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast[GRID](*arrays(), 4)


def test_finalists_are_the_best_three_within_15_percent():
    assert contest.finalists({"a": 1.2, "b": 1.0, "c": 1.1, "d": 1.05, "e": 1.14}) == [
        "b",
        "d",
        "c",
    ]
    assert contest.finalists({"a": 1.0, "b": 1.16}) == ["a"]


def test_final_rounds_interleave_and_compare_medians():
    order = []
    values = {"a": iter([9.0, 2.0, 2.0, 2.0]), "b": iter([3.0, 3.0, 3.0, 1.0])}

    def measure(candidate):
        order.append(candidate)
        return next(values[candidate])

    assert contest.run_final(["a", "b"], measure) == {"a": 2.0, "b": 3.0}
    assert order == ["a", "b", "b", "a", "a", "b", "b", "a"]


def test_within_the_tolerance_the_first_listed_wins():
    times = {"a": 1.009, "b": 1.0, "c": 1.02}
    assert contest.winner(times, ["c", "a", "b"], 0.01) == "a"
    assert contest.winner(times, ["c", "a", "b"], 0.001) == "b"
    assert contest.winner(times, ["c", "a", "b"], 0.05) == "c"


def test_the_printed_line_has_the_documented_form(monkeypatch, capsys):
    monkeypatch.setenv("ENCELADUS_PRINT_AUTOTUNING", "1")
    x, y = arrays()
    tuned(make_kernel(), key=["n"])[GRID](x.astype(np.float16), y, 1024)
    line = capsys.readouterr().err
    assert re.fullmatch(
        r"enceladus: autotuning fake \[1024\|float16,float32\] chose "
        r"enceladus\.Config\(\{'BLOCK': 32\}, num_warps=4\) \(\d+\.\d{3} ms\)\n",
        line,
    )


def test_a_fixed_grid_is_an_error_that_names_lambda_meta():
    with pytest.raises(TypeError, match="lambda meta:"):
        tuned(make_kernel())[(4,)](*arrays(), 4)


def test_a_fixed_grid_serves_where_configs_set_options_only():
    kernel = FakeKernel(["x"], [])
    fast = autotune([Config({}, num_warps=1), Config({}, num_warps=2)], [], warmup=0, rep=1)(kernel)
    fast[(4,)](np.zeros(4, np.float32))
    assert fast.best_config in fast.configs


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda k: autotune(CONFIGS, ["m"])(k), "key names 'm', which is no argument of `fake`"),
        (lambda k: autotune([Config({"BLOC": 1})], [])(k), "did you mean 'BLOCK'"),
        (lambda k: autotune([Config({"n": 1})], [])(k), "annotate it with tl.constexpr"),
        (lambda k: autotune([], [])(k), "at least one config"),
        (lambda k: autotune(CONFIGS, [], reset_to_zero=["z"])(k), "reset_to_zero names 'z'"),
        (lambda k: autotune(CONFIGS, [], prune_configs_by={"topk": 1})(k), "no entry 'topk'"),
        (lambda k: heuristics({"BLOK": len})(k), "heuristics names 'BLOK'"),
    ],
)
def test_wrong_declarations_are_refused_at_once(declare, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        declare(make_kernel())


def test_a_launch_cannot_set_what_the_configs_set():
    fast = tuned(make_kernel())
    x, y = arrays()
    with pytest.raises(TypeError, match="configs set 'BLOCK'"):
        fast[GRID](x, y, 4, BLOCK=16)
    with pytest.raises(TypeError, match="configs set 'BLOCK'"):
        fast[GRID](x, y, 4, 16)
    with pytest.raises(TypeError, match="configs set 'num_warps'"):
        fast[GRID](x, y, 4, num_warps=8)


def test_config_for_without_grid_or_result_says_what_is_missing():
    with pytest.raises(ValueError, match="grid="):
        tuned(make_kernel()).config_for(*arrays(), 4)


def test_config_for_tunes_with_a_grid():
    assert tuned(make_kernel()).config_for(*arrays(), 4, grid=GRID) == CONFIGS[1]


def test_the_interpreter_uses_the_first_config(monkeypatch):
    kernel = make_kernel()
    fast = tuned(kernel)
    monkeypatch.setenv("ENCELADUS_INTERPRET", "1")
    fast[GRID](*arrays(), 4)
    assert [launch["BLOCK"] for launch in kernel.launches] == [16]


def test_warmup_compiles_every_candidate_and_explain_shows_one():
    kernel = make_kernel()
    fast = tuned(kernel)
    x, y = arrays()
    assert fast.warmup(x, y, 4).named["BLOCK"] == 16
    assert [named["BLOCK"] for named in kernel.compiled] == [16, 32, 64]
    assert "('BLOCK', 16)" in fast.explain(x, y, 4)
    fast[GRID](x, y, 4)
    assert fast.warmup(x, y, 4).named["BLOCK"] == 32
    assert "('BLOCK', 32)" in fast.explain(x, y, 4)


def test_heuristics_compute_constexprs_below_an_autotuner():
    kernel = FakeKernel(["x", "n"], ["BLOCK", "EVEN"])
    with_heuristics = heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})(kernel)
    fast = autotune([Config({"BLOCK": 16})], ["n"])(with_heuristics)
    fast[GRID](np.zeros(4, np.float32), 24)
    assert kernel.launches[-1]["EVEN"] is False
    fast[GRID](np.zeros(4, np.float32), 32)
    assert kernel.launches[-1]["EVEN"] is True


def test_decorators_stand_above_jit():
    with pytest.raises(TypeError, match="stands above @enceladus.jit"):
        autotune(CONFIGS, [])(lambda x: x)


def test_the_progress_bar_needs_a_terminal():
    from enceladus.tuning.progress import Progress

    with Progress("autotuning", 10) as progress:
        progress._start -= 10
        progress.advance()
        assert progress._bar is None


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_the_progress_bar_shows_on_a_terminal_when_tuning_is_long(monkeypatch):
    from enceladus.tuning.progress import Progress

    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with Progress("autotuning fake", 10) as progress:
            progress.advance()
            assert progress._bar is None
            progress._start -= 10
            progress.advance()
            assert progress._bar is not None
    assert "autotuning fake" in os.read(master, 4096).decode()
    os.close(master)
