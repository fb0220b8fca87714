"""The parts of the autotuner; users see `enceladus.autotune` and `enceladus.Config`."""
