"""Shape operations, each stored in row-major order."""

import numpy as np

import enceladus
import enceladus.language as tl

from .case import Case, numpy_type, plain

R, C = 8, 16


@enceladus.jit
def shape_kernel(x_ptr, out_ptr, OP: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    rows, columns = tl.arange(0, R), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * C + columns[None, :])
    if OP == "reshape":
        result = tl.reshape(x, (C // 2, R * 2))
    elif OP == "reshape to a column":
        result = x.reshape(R * C, 1)
    elif OP == "view":
        result = x.view(2, R * C // 2)
    elif OP == "ravel":
        result = tl.ravel(x)
    elif OP == "trans":
        result = tl.trans(x)
    elif OP == "T":
        result = x.T
    elif OP == "permute 3D":
        result = tl.permute(tl.reshape(x, (2, R // 2, C)), (2, 0, 1))
    elif OP == "trans 3D":
        result = tl.trans(tl.reshape(x, (2, R // 2, C)))
    elif OP == "expand_dims":
        result = tl.expand_dims(x, 1) + tl.expand_dims(x, (1,))
    elif OP == "broadcast_to":
        result = tl.broadcast_to(x[:, None, :], (R, 2, C))
    elif OP == "broadcast":
        left, right = tl.broadcast(x[:, :, None], tl.arange(0, 2)[None, None, :])
        result = left + right.to(x.dtype)
    elif OP == "scalar":
        result = tl.broadcast_to(tl.load(x_ptr + 3), (4, 2))
    else:
        result = tl.full((4, 8), 3, x.dtype) + tl.zeros_like(tl.full((4, 8), 5, x.dtype))
    flat = tl.ravel(result)
    tl.store(out_ptr + tl.arange(0, flat.shape[0]), flat)


REFERENCES = {
    "reshape": lambda x: x,
    "reshape to a column": lambda x: x,
    "view": lambda x: x,
    "ravel": lambda x: x,
    "trans": lambda x: x.T,
    "T": lambda x: x.T,
    "permute 3D": lambda x: x.reshape(2, R // 2, C).transpose(2, 0, 1),
    "trans 3D": lambda x: x.reshape(2, R // 2, C).transpose(0, 2, 1),
    "expand_dims": lambda x: x + x,
    "broadcast_to": lambda x: np.repeat(x[:, None, :], 2, axis=1),
    "broadcast": lambda x: x[:, :, None] + np.arange(2).astype(x.dtype)[None, None, :],
    "scalar": lambda x: np.repeat(x.ravel()[3], 8),
    "full": lambda x: np.full(32, 3).astype(x.dtype),
}


def shape_case(op, name, num_warps):
    def inputs():
        x = plain(name, R, C)
        size = REFERENCES[op](x).size
        out = np.zeros(size + 32, numpy_type(name))
        return {"x_ptr": x, "out_ptr": out, "OP": op, "R": R, "C": C}

    return Case(
        name=f"shape {op} {name}",
        kernel=shape_kernel,
        grid=(1,),
        inputs=inputs,
        expected=lambda a: {"out_ptr": REFERENCES[op](a["x_ptr"]).ravel()},
        num_warps=num_warps,
    )


def cases():
    warps = (1, 4, 8)
    rows = [(op, name) for op in REFERENCES for name in ("float32", "int8", "float16")]
    return [shape_case(op, name, warps[i % 3]) for i, (op, name) in enumerate(rows)]
