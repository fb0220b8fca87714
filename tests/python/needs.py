"""What some tests need of the machine they run on."""

import pytest

import enceladus

needs_simulator = pytest.mark.skipif(
    "metal-sim" not in enceladus.devices(), reason="the simulator is for Linux on x86-64"
)
