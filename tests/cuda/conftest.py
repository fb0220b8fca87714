"""Tests that need an NVIDIA GPU and PyTorch; skipped elsewhere."""

import pathlib

import pytest

import enceladus

HERE = pathlib.Path(__file__).parent


def has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available() and "cuda:0" in enceladus.devices()


def pytest_collection_modifyitems(items):
    """Marks the tests of this folder alone: pytest hands every folder's over."""
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    if ours and not has_gpu():
        for item in ours:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU here"))
