"""Stand-ins for PyTorch's mps device and for MLX, which do what those document, on `metal-sim`.

Kernels handed to them run in the simulator. They know nothing of how the package calls them.
"""

import ctypes
import itertools
import re
import sys
import types

import ml_dtypes
import numpy as np

import enceladus

LARGEST_CONSTANT = 7  # elements of an input that MLX's signature has in constant memory


def run_text(source, name, arrays, grid, threads):
    """Runs Metal text whose buffers are arrays of the host, in order."""
    kernel = enceladus.metal_kernel(source, name)
    kernel[tuple(t // g for t, g in zip(grid, threads, strict=True)), threads](*arrays)


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32)]


def buffer_handle(tensor):
    """The id<MTLBuffer> of a tensor on `metal-sim`, out of its DLPack capsule."""
    capsule = tensor.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    record = _DLTensor.from_address(get(capsule, b"dltensor"))
    assert record.device_type == 8
    return record.data


def mps_tensor_type(torch):
    """A tensor class that shows itself as one on mps, over memory of `metal-sim`."""

    class Storage:
        def __init__(self, handle):
            self.data_ptr = lambda: handle

    class MpsTensor(torch.Tensor):
        """Shares memory with `_home`, an enceladus.Tensor."""

        @property
        def device(self):
            return torch.device("mps")

        @property
        def is_cpu(self):
            return False

        def untyped_storage(self):
            return Storage(buffer_handle(self._home))

        def __getitem__(self, key):
            view = super().__getitem__(key).as_subclass(MpsTensor)
            view._home = self._home
            return view

    return MpsTensor


class FakeMps:
    """`torch.mps` with one stream, whose work is done when it is waited for."""

    def __init__(self, torch):
        self._torch = torch
        self._type = mps_tensor_type(torch)
        self.pending = []
        self.synchronized = 0
        self.compiled = 0

    def tensor(self, array):
        """A tensor on mps with the values of a NumPy array."""
        home = enceladus.empty(array.shape, array.dtype, device="metal-sim").copy_(array)
        made = self._torch.from_numpy(home.numpy()).as_subclass(self._type)
        made._home = home
        return made

    def synchronize(self):
        self.synchronized += 1
        pending, self.pending = self.pending, []
        for work in pending:
            work()

    def compile_shader(self, source):
        self.compiled += 1
        if "#error" in source:
            raise RuntimeError("program_source:1:2: error: as the text asks")
        return types.SimpleNamespace(
            **{
                name: self._kernel(source, name)
                for name in re.findall(r"kernel\s+void\s+(\w+)", source)
            }
        )

    def _kernel(self, source, name):
        def call(*args, threads=None, group_size=None, arg_casts=None):
            bound = []
            for argument in args:
                if isinstance(argument, self._torch.Tensor):
                    assert argument.device.type == "mps"
                    bound.append(argument.as_subclass(self._torch.Tensor).numpy())
                elif isinstance(argument, tuple) and all(type(v) is int for v in argument):
                    assert argument and arg_casts is None
                    bound.append(np.array(argument, np.int64))
                else:
                    raise TypeError("Unsupported argument type")
            assert len(threads) == len(group_size) == 3
            text = as_bytes(source, name)
            self.pending.append(lambda: run_text(text, name, bound, threads, group_size))

        return call


def as_bytes(source, name):
    """The text with its structs of scalars taken as arrays, which is how they come here."""
    pointers = re.sub(r"constant (\w+)& (\w+) \[\[buffer", r"constant \1* \2_at [[buffer", source)
    return pointers.replace("= scalars.", "= scalars_at->")


def fake_mlx():
    """A module like `mlx.core`: arrays that are computed when somebody looks."""
    core = types.ModuleType("mlx.core")
    core.evaluations = itertools.count()
    core.launches = []

    class Dtype:
        def __init__(self, name, numpy_type):
            self.name_, self.numpy_type = name, np.dtype(numpy_type)

        def __repr__(self):
            return f"mlx.core.{self.name_}"

    dtypes = [Dtype(n, n) for n in ("int32", "uint32", "uint16", "float32", "float16", "int64")]
    dtypes += [Dtype("bfloat16", ml_dtypes.bfloat16), Dtype("bool_", "bool")]
    for dtype in dtypes:
        setattr(core, dtype.name_, dtype)

    def dtype_of(numpy_dtype):
        return next(dtype for dtype in dtypes if dtype.numpy_type == numpy_dtype)

    class array:  # noqa: N801
        def __init__(self, value, dtype=None):
            values = np.array(value, None if dtype is None else dtype.numpy_type)
            if values.dtype == np.float64:
                values = values.astype(np.float32)
            self._set(values.shape, dtype_of(values.dtype), lambda: values)

        def _set(self, shape, dtype, compute):
            self.shape, self.dtype = tuple(shape), dtype
            self.size = int(np.prod(shape))
            self._compute, self._values = compute, None

        @classmethod
        def _lazy(cls, shape, dtype, compute):
            made = cls.__new__(cls)
            made._set(shape, dtype, compute)
            return made

        @property
        def is_evaluated(self):
            return self._values is not None

        def evaluated(self):
            if self._values is None:
                next(core.evaluations)
                self._values = self._compute()
            return self._values

        def __array__(self, dtype=None, copy=None):
            if self.dtype.name_ == "bfloat16":
                raise RuntimeError("Item size 2 for PEP 3118 buffer format string B")
            return self.evaluated()

        def view(self, dtype):
            return array._lazy(self.shape, dtype, lambda: self.evaluated().view(dtype.numpy_type))

        def __setitem__(self, key, value):
            assert key is Ellipsis and value.shape == self.shape
            self._compute, self._values = value.evaluated, None

        def tolist(self):
            return self.evaluated().tolist()

    core.array = array

    def lift(function):
        def call(first, *rest):
            parts = first if isinstance(first, list) else [first]
            shaped = function([np.empty(p.shape, p.dtype.numpy_type) for p in parts], *rest)
            return array._lazy(
                shaped.shape,
                parts[0].dtype,
                lambda: function([p.evaluated() for p in parts], *rest),
            )

        return call

    core.concatenate = lift(np.concatenate)
    core.reshape = lift(lambda parts, shape: parts[0].reshape(shape))
    core.broadcast_to = lift(lambda parts, shape: np.broadcast_to(parts[0], shape))
    core.transpose = lift(lambda parts: parts[0].T)
    core.zeros = lambda shape, dtype=core.float32: array._lazy(
        shape, dtype, lambda: np.zeros(shape, dtype.numpy_type)
    )
    core.eval = lambda *arrays: [one.evaluated() for one in arrays]
    core.fast = types.SimpleNamespace(metal_kernel=lambda **given: metal_kernel(core, **given))
    return core


METAL_TYPES = {"float32": "float", "float16": "half", "bfloat16": "bfloat", "bool": "bool"}
ATTRIBUTES = {
    "threadgroup_position_in_grid": "uint3",
    "threadgroups_per_grid": "uint3",
    "thread_position_in_grid": "uint3",
    "thread_index_in_simdgroup": "uint",
    "simdgroup_index_in_threadgroup": "uint",
}


def metal_kernel(core, *, name, input_names, output_names, source, header=""):
    """`mx.fast.metal_kernel`: writes the signature around the body."""

    def metal_type(dtype):
        return METAL_TYPES.get(dtype.numpy_type.name, f"{dtype.numpy_type.name}_t")

    def text_for(inputs, output_dtypes):
        parameters = []
        for given, one in zip(input_names, inputs, strict=True):
            space = "constant" if one.size <= LARGEST_CONSTANT else "device"
            parameters.append(f"const {space} {metal_type(one.dtype)}* {given}")
        for given, dtype in zip(output_names, output_dtypes, strict=True):
            parameters.append(f"device {metal_type(dtype)}* {given}")
        declared = [f"{p} [[buffer({i})]]" for i, p in enumerate(parameters)]
        declared += [f"{kind} {a} [[{a}]]" for a, kind in ATTRIBUTES.items() if a in source]
        signature = f"kernel void custom_kernel_{name}({', '.join(declared)})"
        return f"{header}\n{signature} {{\n{source}\n}}\n"

    def call(*, inputs, output_shapes, output_dtypes, grid, threadgroup, init_value=None):
        text = text_for(inputs, output_dtypes)
        core.launches.append(name)

        def compute():
            fill = np.empty if init_value is None else np.zeros
            outs = [
                fill(shape, dtype.numpy_type)
                for shape, dtype in zip(output_shapes, output_dtypes, strict=True)
            ]
            taken = [np.ascontiguousarray(one.evaluated()) for one in inputs]
            with enceladus.device("metal-sim"):
                run_text(text, f"custom_kernel_{name}", taken + outs, grid, threadgroup)
            return outs

        results = []
        done = []

        def result(index):
            if not done:
                done.extend(compute())
            return done[index]

        for index, (shape, dtype) in enumerate(zip(output_shapes, output_dtypes, strict=True)):
            results.append(core.array._lazy(shape, dtype, lambda index=index: result(index)))
        return results

    return call


def install_mlx(monkeypatch):
    """Makes the stand-in what `import mlx.core` would have given."""
    core = fake_mlx()
    package = types.ModuleType("mlx")
    package.core = core
    monkeypatch.setitem(sys.modules, "mlx", package)
    monkeypatch.setitem(sys.modules, "mlx.core", core)
    return core
