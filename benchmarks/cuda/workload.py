"""One piece of work that several contenders do, how ours is tuned for it, and its table row."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch

from benchmarks.cuda import kernels
from benchmarks.cuda.peers import triton_kernels
from benchmarks.cuda.timing import Plan, measure, sets_for

IDLE = 0.15  # seconds that let the board rest
FINALISTS = 3  # configurations that are timed a second time
CLOSE = 1.08  # of the fastest: what a first look cannot tell apart from it


@dataclass
class Workload:
    """Attributes:
    title: what and how large.
    make: one set of random inputs, with the output under "out".
    reference: the result in float32 or better of a set.
    tolerance: of |out - reference| / |reference|.
    amount: bytes moved at least, or operations.
    unit: "GB/s" or "TFLOP/s"; operations are timed rested.
    set_bytes: of one set.
    kernel: name in `kernels.py`; ours and Triton's.
    bind: (set, config) -> (arguments, grid).
    configs: constexprs and options (`num_warps`, `num_stages`) to try.
    triton_configs: the same for Triton; those of `configs` where it is None.
    peers: by name, a function of a set.
    slow_peers: the same, of which only those run that `--contenders` names.
    parts: by name, a function of a set that does a part of the work alone, and its reference.
    before: runs before each call of a kernel (clearing what it adds to).
    our_kernel: name of ours where it is another than Triton's.
    """

    title: str
    make: Callable
    reference: Callable
    tolerance: float
    amount: float
    unit: str
    set_bytes: float
    kernel: str
    bind: Callable
    configs: list
    triton_configs: list | None = None
    peers: dict = field(default_factory=dict)
    slow_peers: dict = field(default_factory=dict)
    parts: dict = field(default_factory=dict)
    before: Callable | None = None
    our_kernel: str | None = None


def relative_error(out, reference):
    out, reference = out.double(), reference.double()
    if not bool(torch.isfinite(out).all()):
        return float("inf")
    return float((out - reference).norm() / reference.norm().clamp_min(1e-30))


def poison(out):
    out.fill_(float("nan") if out.dtype.is_floating_point and out.itemsize > 1 else 77)


def options_of(config):
    """Constexprs and launch options; names with a leading _ are for `bind` alone."""
    return {name: value for name, value in config.items() if not name.startswith("_")}


def launches(work, kernel, sets, config):
    """A call for each set."""

    def call(given):
        arguments, grid = work.bind(given, config)
        launch = kernel[grid]
        options = options_of(config)
        out, before = given["out"], work.before

        def run():
            if before is not None:
                before(given)
            launch(*arguments, **options)
            return out

        return run

    return [call(given) for given in sets]


def warm(work, kernel, sets, configs):
    """Compiles every configuration on many threads; the errors of those that fail."""

    def compile_one(config):
        arguments, _ = work.bind(sets[0], config)
        try:
            kernel.warmup(*arguments, **options_of(config))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    with ThreadPoolExecutor(12) as pool:
        return list(pool.map(compile_one, configs))


def best_launch(work, kernel, sets, configs, errors):
    """(calls, config, microseconds, failures) of the fastest configuration that is right."""
    expected = work.reference(sets[0])
    tried, failures = [], []
    idle = IDLE / 2 if work.unit == "TFLOP/s" else 0.0
    for config, error in zip(configs, errors, strict=True):
        if error is None:
            try:
                calls = launches(work, kernel, sets, config)
                poison(sets[0]["out"])
                out = calls[0]()
                torch.cuda.synchronize()
                found = relative_error(out, expected)
                if found > work.tolerance:
                    error = f"wrong result, relative error {found:.2e}"
            except Exception as problem:
                if "is lost" in str(problem) or "CUDA error" in str(problem):
                    raise
                error = f"{type(problem).__name__}: {problem}"
        if error is not None:
            failures.append([str(config), error[:300]])
            continue
        plan = Plan(calls, milliseconds=1.0)
        tried.append((plan.sample(2.0, idle), str(config), calls, config))
    if not tried:
        raise RuntimeError("no configuration works: " + "; ".join(map(str, failures[:2])))
    tried.sort(key=lambda entry: entry[:2])
    best = fastest([entry for entry in tried[:FINALISTS] if entry[0] < CLOSE * tried[0][0]], idle)
    return best[2], best[3], [[round(t[0], 2), t[1]] for t in tried[:6]], failures


def fastest(tried, idle):
    """Of entries (microseconds, text, calls, config) the best when they take turns."""
    if len(tried) == 1:
        return tried[0]
    plans = {text: Plan(calls) for _, text, calls, _ in tried}
    found = measure(plans, 2, 6.0, idle)
    return min(tried, key=lambda entry: found[entry[1]]["us_min"])


def candidates(work):
    """(name, kernel, configs) of ours and of Triton."""
    yield "enceladus", getattr(kernels, work.our_kernel or work.kernel), work.configs
    module = triton_kernels()
    if module is not None:
        configs = work.configs if work.triton_configs is None else work.triton_configs
        yield "triton", getattr(module, work.kernel), configs


def run(work, rounds, contenders=None):
    """Checks, tunes and times a workload; a row for each contender."""
    sets = [work.make() for _ in range(sets_for(work.set_bytes))]
    plans, rows = {}, {}
    for name, kernel, configs in candidates(work):
        if contenders and name not in contenders:
            continue
        try:
            ours = name == "enceladus"
            errors = warm(work, kernel, sets, configs) if ours else [None] * len(configs)
            calls, config, board, failures = best_launch(work, kernel, sets, configs, errors)
            plans[name] = Plan(calls)
            rows[name] = {"config": str(config), "board": board, "failures": failures}
        except Exception as problem:
            rows[name] = {"failed": f"{type(problem).__name__}: {problem}"[:600]}
            if "is lost" in str(problem):
                raise
    slow = {name: peer for name, peer in work.slow_peers.items() if name in (contenders or ())}
    others = {name: (peer, work.reference) for name, peer in {**work.peers, **slow}.items()}
    for name, (peer, reference) in {**others, **work.parts}.items():
        if contenders and name not in contenders:
            continue
        try:
            calls = [lambda given=given, peer=peer: peer(given) for given in sets]
            error = relative_error(calls[0](), reference(sets[0]))
            if error > work.tolerance:
                raise RuntimeError(f"relative error {error:.2e}")
            plans[name] = Plan(calls)
            rows[name] = {}
        except Exception as problem:
            rows[name] = {"failed": f"{type(problem).__name__}: {problem}"[:600]}
    idle = IDLE if work.unit == "TFLOP/s" else 0.0
    for name, timing in measure(plans, rounds, 8.0, idle).items():
        scale = 1e6 if work.unit == "TFLOP/s" else 1e3
        rows[name].update(timing, value=work.amount / timing["us"] / scale, unit=work.unit)
        rows[name]["graph"] = plans[name].graph is not None
        if plans[name].why:
            rows[name]["no_graph"] = plans[name].why
    return rows
