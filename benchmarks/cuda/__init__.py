"""Measurements on an NVIDIA GPU beside its libraries; run with `python -m benchmarks.cuda`."""
