"""Tests that need an NVIDIA GPU and PyTorch; skipped elsewhere."""

import pytest

import enceladus

torch = pytest.importorskip("torch")


def pytest_collection_modifyitems(items):
    if torch.cuda.is_available() and any(d.name == "cuda:0" for d in enceladus.devices()):
        return
    for item in items:
        item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU here"))
