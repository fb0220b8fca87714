"""Wrong options of `autotune`, `Config` and `jit`: each message says what would do."""

import numpy as np
import pytest

import enceladus
import enceladus.language as tl
from enceladus import Config, autotune

CONFIGS = [Config({"BLOCK": 64}), Config({"BLOCK": 128})]
GRID = lambda meta: (enceladus.cdiv(meta["n"], meta["BLOCK"]),)  # noqa: E731


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCELADUS_CACHE_DIR", str(tmp_path / "cache"))


def plain(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < n)


kernel = enceladus.jit(plain)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tolerance": "a"}, TypeError, "tolerance takes a number, not 'a'"),
        ({"tolerance": True}, TypeError, "tolerance takes a number, not True"),
        ({"tolerance": -1}, ValueError, "tolerance takes a finite number of at least 0, not -1"),
        ({"tolerance": float("nan")}, ValueError, "tolerance takes a finite number"),
        ({"warmup": "10"}, TypeError, "warmup takes a number, not '10'"),
        ({"rep": -5}, ValueError, "rep takes a finite number of at least 0, not -5"),
        ({"key": "n"}, TypeError, "key takes a list of argument names, not 'n'"),
        ({"key": 3}, TypeError, "key takes a list of argument names, not 3"),
        ({"key": [3]}, TypeError, r"key takes a list of argument names, not \[3\]"),
        ({"key": ["m"]}, ValueError, "key names 'm', which is no argument of `plain`"),
        ({"key": ["x_prt"]}, ValueError, "did you mean 'x_ptr'"),
        ({"key": ["BLOCK"]}, ValueError, "key names 'BLOCK', which the configs set"),
        ({"reset_to_zero": "x_ptr"}, TypeError, "reset_to_zero takes a list of argument names"),
        ({"restore_value": ["y"]}, ValueError, "restore_value names 'y', which is no argument"),
        ({"pre_hook": 3}, TypeError, "pre_hook takes a function, not 3"),
        ({"post_hook": "f"}, TypeError, "post_hook takes a function, not 'f'"),
        ({"configs": Config({"BLOCK": 64})}, TypeError, "configs takes a list of enceladus.Config"),
        ({"configs": []}, ValueError, "at least one config"),
        ({"prune_config_by": {}}, TypeError, "'prune_config_by'; did you mean 'prune_configs_by'"),
        ({"tolerence": 0.1}, TypeError, "enceladus.autotune has no option 'tolerence'; did you"),
    ],
)
def test_autotune_says_what_is_wrong_with_an_option(options, error, message):
    given = {"configs": CONFIGS, "key": ["n"], **options}
    with pytest.raises(error, match=message):
        autotune(**given)(kernel)


@pytest.mark.parametrize("array", [np.asarray, enceladus.from_numpy], ids=["numpy", "tensor"])
def test_an_array_in_the_key_is_refused_by_name(array):
    tuned = autotune(CONFIGS, key=["x_ptr"])(kernel)
    with pytest.raises(TypeError, match="the key of `plain` names 'x_ptr', an array: name sizes"):
        tuned[GRID](array(np.zeros(100, np.float32)), 100)


def test_a_value_in_the_key_that_cannot_be_compared_is_refused_by_name():
    tuned = autotune(CONFIGS, key=["n"])(kernel)
    with pytest.raises(TypeError, match=r"the key of `plain` names 'n', whose value \[1\]"):
        tuned[GRID](np.zeros(100, np.float32), [1])


@pytest.mark.parametrize("option", ["reset_to_zero", "restore_value"])
def test_a_number_cannot_be_reset_or_restored(option):
    tuned = autotune(CONFIGS, key=[], **{option: ["n"]})(kernel)
    with pytest.raises(TypeError, match=f"{option} of `plain` names 'n', which is no array but 10"):
        tuned[GRID](np.zeros(10, np.float32), 10)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((64,), {}, TypeError, "a Config takes a dict of constexprs by name, not 64"),
        (({3: 4},), {}, TypeError, "a Config takes a dict of constexprs by name"),
        (({},), {"num_warp": 3}, TypeError, "Config has no option 'num_warp'; did you mean 'num_w"),
        (({},), {"maxnreg": 3}, TypeError, r"no option 'maxnreg' \(it has kwargs, num_warps, dot_"),
        (({},), {"num_warps": True}, TypeError, "num_warps is an integer, not True"),
        (({},), {"dot_warps": ("2", 2)}, TypeError, "dot_warps is a pair of integers"),
        (({},), {"num_stages": True}, ValueError, "num_stages is an integer of at least 1"),
        (({},), {"pre_hook": 1}, TypeError, "pre_hook takes a function, not 1"),
    ],
)
def test_config_says_what_is_wrong_with_an_option(arguments, options, error, message):
    with pytest.raises(error, match=message):
        Config(*arguments, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"math_mod": "fast"}, TypeError, "enceladus.jit has no option 'math_mod'; did you mean"),
        ({"math_mode": "quick"}, ValueError, "math_mode is one of 'relaxed', 'fast', 'precise'"),
        ({"do_not_specialise": []}, TypeError, "did you mean 'do_not_specialize'"),
        ({"do_not_specialize": ["m"]}, ValueError, "'m', which is no parameter of `plain`"),
        ({"do_not_specialize": "n"}, TypeError, "takes a list of names, not the string 'n'"),
    ],
)
def test_jit_says_what_is_wrong_with_an_option(options, error, message):
    with pytest.raises(error, match=message):
        enceladus.jit(**options)(plain)


def test_a_misspelt_launch_option_of_an_autotuned_kernel_names_the_closest():
    tuned = autotune(CONFIGS, key=["n"])(kernel)
    with pytest.raises(TypeError, match="'num_stage'.*Did you mean 'num_stages'"):
        tuned[GRID](np.zeros(10, np.float32), 10, num_stage=2)
