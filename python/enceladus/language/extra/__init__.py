"""Names under which Triton programs reach the target's math library."""

from enceladus.language.extra import libdevice

__all__ = ["libdevice"]
