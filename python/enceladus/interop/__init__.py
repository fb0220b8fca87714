"""Arrays of other libraries: their dtypes, and helpers that work on any of them.

PyTorch, MLX and JAX are recognized by what their objects offer and are never imported.
"""

from enceladus.interop.dtypes import dtype_name, numpy_dtype
from enceladus.interop.mlx import lazy_mlx
from enceladus.interop.neutral import element_dtype, element_strides, new_empty, new_zeros

__all__ = [
    "dtype_name",
    "element_dtype",
    "element_strides",
    "lazy_mlx",
    "new_empty",
    "new_zeros",
    "numpy_dtype",
]
