"""Fixed seeds of the random structured programs; open-ended runs are by hand."""

import numpy as np
import pytest
import random_control_flow

import enceladus

LENGTH = 5
SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("target", [device.name for device in enceladus.devices()])
def test_random_program_does_what_python_does(target, seed, monkeypatch):

    def launch(kernel, grid, arguments, interpreted):
        monkeypatch.setenv("ENCELADUS_INTERPRET", "1" if interpreted else "0")
        with enceladus.device(target):
            kernel[grid](**arguments)

    found = random_control_flow.differences(seed, LENGTH, launch)
    assert not found, f"seed {seed}, length {LENGTH}:\n" + "\n".join(found)


def test_a_wrong_target_is_seen(monkeypatch):
    monkeypatch.setenv("ENCELADUS_INTERPRET", "1")

    def launch(kernel, grid, arguments, interpreted):
        kernel[grid](**arguments)
        if not interpreted:
            np.negative(arguments["out_ptr"], out=arguments["out_ptr"])

    assert random_control_flow.differences(1, LENGTH, launch)
