"""Tile kernels in Python, for Apple GPUs, NVIDIA GPUs and CPUs."""
