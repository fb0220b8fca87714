"""What NVIDIA GPUs can do at best, for the roofline of `kernel.explain`.

Cards in `MEASURED` have figures of a run of `python -m benchmarks.cuda`, whose table says what was
measured; others have what their attributes promise, clocks times units, which no kernel quite
reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["MEASURED", "GpuCeilings", "gpu_ceilings_of"]


@dataclass(frozen=True)
class GpuCeilings:
    """The ceilings of one card.

    Attributes:
        bytes_per_second: of device memory, read plus written.
        operations_per_second: by dtype; of multiply-adds in registers for float32 and float64, of
            the matrix units for the others; a multiply-add counts as two.
        source: where the figures are from.
    """

    bytes_per_second: float
    operations_per_second: Mapping[str, float]
    source: str


# By the driver's name of the card. Memory: sum of two arrays of 2^28 float32. Matrix units:
# products of 8192^3 on a rested board. float32: attributes, as it was not measured.
MEASURED = {
    "NVIDIA H200": GpuCeilings(
        bytes_per_second=4.379e12,
        operations_per_second={
            "float32": 66.9e12,
            "float16": 773e12,
            "bfloat16": 805e12,
            "int8": 1570e12,
        },
        source="measured on an NVIDIA H200, 2026-11-29 (benchmarks/results/cuda.md)",
    )
}

# Operations of a multiprocessor in one clock, multiply-adds counted as two: float32 by its cores,
# and float16 by its matrix units; by major compute capability. Bytes multiply at twice that rate.
_FLOAT32_PER_CLOCK = {8: 256, 9: 256, 10: 256, 12: 256}
_FLOAT16_PER_CLOCK = {8: 2048, 9: 4096, 10: 8192, 12: 2048}
_FLOAT32_OF_SM_80 = 128


def gpu_ceilings_of(properties: Mapping[str, str]) -> GpuCeilings | None:
    """The ceilings of the card with these properties; None where they do not tell.

    Args:
        properties: of a device, as `enceladus.current_device().properties` has them.
    """
    measured = MEASURED.get(properties.get("name", ""))
    if measured is not None:
        return measured
    architecture = properties.get("architecture", "")
    digits = "".join(filter(str.isdigit, architecture))
    clock = 1e3 * int(properties.get("clock kHz", "0"))
    memory_clock = 1e3 * int(properties.get("memory clock kHz", "0"))
    bits = int(properties.get("memory bus bits", "0"))
    if not digits or not clock or not memory_clock or not bits:
        return None
    major = int(digits) // 10
    if major not in _FLOAT32_PER_CLOCK:
        return None
    units = int(properties["multiprocessors"]) * clock
    per_clock = _FLOAT32_OF_SM_80 if digits == "80" else _FLOAT32_PER_CLOCK[major]
    matrix = units * _FLOAT16_PER_CLOCK[major]
    return GpuCeilings(
        bytes_per_second=2 * memory_clock * bits / 8,  # two transfers in one clock
        operations_per_second={
            "float32": units * per_clock,
            "float16": matrix,
            "bfloat16": matrix,
            "int8": 2 * matrix,
        },
        source="the device's attributes: clocks times units, not measured",
    )
