"""Runs a kernel's own Python function, program by program, over NumPy.

The reference for every target: it computes what compiled kernels compute, rounding per operation
included, checks every access, and lets `print` and `pdb` work inside a kernel.

    interpreter.run(function, grid, arguments, constexprs=("BLOCK",))

- `function`: the kernel's Python function.
- `grid`: one to three non-negative ints; axis 0 runs fastest.
- `arguments`: parameter name -> NumPy array, torch CPU tensor or `enceladus.Tensor` (used in
  place), Python or NumPy number, or compile-time value.
- `constexprs`: the parameters that are compile-time; their values reach the function as they are.

Values are `Value` objects (`values.py`) whose operators follow section 2 of the language. An
access outside an array raises `OutOfBoundsError`, a mistake that the compiler would refuse
`CompilationError`, both with the kernel's line.
"""

from enceladus.interpreter.launch import run

__all__ = ["run"]
