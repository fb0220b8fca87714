"""Fixed seeds of the random kernels; open-ended runs are by hand (see random_kernels.py)."""

import os

import pytest
import random_kernels

import enceladus

LENGTH = 12
SEEDS = range(60)
METAL_FLOATS = ("float16", "bfloat16", "float32")


def launch_on(target, monkeypatch):
    def launch(kernel, arguments, interpreted):
        monkeypatch.setenv("ENCELADUS_INTERPRET", "1" if interpreted else "0")
        with enceladus.device(target):
            kernel[(2,)](**arguments)

    return launch


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("target", [device.name for device in enceladus.devices()])
def test_random_kernel_equals_the_interpreter(target, seed, monkeypatch):
    if target == "metal-sim":  # no float64 there, and float32 denormals are flushed as on a GPU
        monkeypatch.setattr(random_kernels, "FLOATS", METAL_FLOATS)
        monkeypatch.setattr(random_kernels, "TYPES", (*random_kernels.INTEGERS, *METAL_FLOATS))
        monkeypatch.setattr(random_kernels, "SMALLEST", 1e-3)
    found = random_kernels.differences(seed, LENGTH, launch_on(target, monkeypatch))
    assert not found, f"seed {seed}, length {LENGTH}:\n" + "\n".join(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_shorter_program_is_a_prefix(seed):
    whole, part = (random_kernels.generate(seed, length).lines for length in (LENGTH, 5))
    assert whole[: len(part)] == part


@pytest.mark.parametrize("seed", SEEDS)
def test_interpreter_runs_and_a_wrong_target_is_seen(seed, monkeypatch):
    """Against a target that spoils one output, every seed differs."""

    def launch(kernel, arguments, interpreted):
        monkeypatch.setitem(os.environ, "ENCELADUS_INTERPRET", "1")
        kernel[(2,)](**arguments)
        if not interpreted:
            out = arguments["out3_ptr"]
            out[5] = out[5] == 0

    assert random_kernels.differences(seed, LENGTH, launch)
