"""Measurements of Enceladus beside its peers; run with `python -m benchmarks`."""
