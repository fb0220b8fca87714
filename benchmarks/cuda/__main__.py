"""Measures on the first CUDA device and writes FOLDER/cuda.json and FOLDER/cuda.md.

python -m benchmarks.cuda --out benchmarks/results
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import torch

import enceladus
from benchmarks.cuda import columns, compiling, launches, products, rounding, rows
from benchmarks.cuda.workload import run


def machine():
    git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    found = {
        "device": torch.cuda.get_device_name(),
        "enceladus device": enceladus._core.device_description("cuda:0"),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": str(torch.backends.cudnn.version()),
        "python": platform.python_version(),
        "commit": os.environ.get("ENCELADUS_COMMIT") or commit or None,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"),
        "command": "python -m benchmarks.cuda " + " ".join(sys.argv[1:]),
    }
    try:
        import triton

        found["triton"] = triton.__version__
    except ImportError:
        pass
    return found


def line(title, found):
    """One line of text of a workload's rows."""
    parts = [
        f"{name} {row['value']:.4g}" if "value" in row else f"{name} FAILED {row['failed'][:160]}"
        for name, row in found.items()
    ]
    unit = next((row["unit"] for row in found.values() if "unit" in row), "")
    return f"{title} [{unit}]: " + ", ".join(parts)


def markdown(result):
    """The tables as text: each contender's rate, and ours over it."""
    lines = ["# cuda", "", *(f"- {name}: {value}" for name, value in result["machine"].items()), ""]
    lines += ["| workload | unit | contender | value | us | enceladus / it | config |"]
    lines += ["|---|---|---|---:|---:|---:|---|"]
    for title, found in result["workloads"].items():
        ours = found.get("enceladus", {}).get("value")
        for name, row in found.items():
            if "value" not in row:
                lines.append(f"| {title} | | {name} | failed | | | {row['failed'][:120]} |")
                continue
            ratio = f"{ours / row['value']:.3f}" if ours else ""
            lines.append(
                f"| {title} | {row['unit']} | {name} | {row['value']:.4g} | {row['us']:.4g} | "
                f"{ratio} | {row.get('config', '')} |"
            )
    if result["rounding"]:
        lines += ["", "| GELU of exact sums, float16 | not the nearest | off by at most, ulp |"]
        lines += ["|---|---:|---:|"]
        for name, row in result["rounding"].items():
            lines.append(f"| {name} | {row['not nearest']:.3%} | {row['ulp']} |")
    if result["launches"]:
        lines += ["", "| launch | host us | device us | round trip us |", "|---|---:|---:|---:|"]
        for name, row in result["launches"].items():
            names = ("host us", "device us", "round trip us")
            values = (f"{row[key]:.2f}" if row.get(key) else "" for key in names)
            lines.append(f"| {name} | {' | '.join(values)} |")
    if result["compile"]:
        lines += ["", "| first launch of a new process | cold ms | warm ms | import ms |"]
        lines += ["|---|---:|---:|---:|"]
        for name, row in result["compile"].items():
            names = ("cold ms", "warm ms", "import ms")
            values = (f"{row[key]:.1f}" if row.get(key) else "failed" for key in names)
            lines.append(f"| {name} | {' | '.join(values)} |")
        lines += stage_table(result["compile"])
    return "\n".join(lines) + "\n"


def stage_table(rows):
    """Where our cold first launches spend their time; `rest` is before and behind compiling."""
    timed = {name: row for name, row in rows.items() if row.get("stages")}
    lines = ["", "| stages of a cold first launch, ms | frontend | passes, text | nvrtc | rest |"]
    lines += ["|---|---:|---:|---:|---:|"]
    for name, row in timed.items():
        stages = row["stages"]
        ends = [stages["frontend"], stages["nvrtc"]]
        rest = row["stages of ms"] - sum(stages.values())
        parts = (ends[0], sum(stages.values()) - sum(ends), ends[1], rest)
        lines.append(f"| {name} | {' | '.join(f'{part:.1f}' for part in parts)} |")
    return lines if timed else []


def write(result, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cuda.json").write_text(json.dumps(result, indent=1))
    (folder / "cuda.md").write_text(markdown(result))


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.cuda", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that they work")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="parts of titles, apart by commas")
    parser.add_argument("--contenders", default="", help="names, apart by commas; all by default")
    options = parser.parse_args()
    torch.manual_seed(0)
    result = {"machine": machine(), "workloads": {}, "rounding": {}, "launches": {}, "compile": {}}
    print(result["machine"], flush=True)
    wanted = [part for part in options.only.split(",") if part]
    chosen = [name for name in options.contenders.split(",") if name]
    modules = (rows, products, columns)
    for work in [work for module in modules for work in module.workloads(options.quick)]:
        if wanted and not any(part in work.title for part in wanted):
            continue
        found = run(work, options.rounds, chosen)
        result["workloads"][work.title] = found
        print(line(work.title, found), flush=True)
        write(result, options.out)
        torch.cuda.empty_cache()
    if not wanted or "rounding" in wanted:
        result["rounding"] = rounding.run()
        print("rounding", result["rounding"], flush=True)
    if not wanted or "launch" in wanted:
        result["launches"] = launches.run()
        for name, row in result["launches"].items():
            print("launch", name, row, flush=True)
    if not wanted or "compile" in wanted:
        result["compile"] = compiling.run()
        for name, row in result["compile"].items():
            print("compile", name, {key: row[key] for key in row if key != "stages"}, flush=True)
    write(result, options.out)


if __name__ == "__main__":
    main()
