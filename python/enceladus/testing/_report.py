"""`perf_report` and `Benchmark`: one function timed over sizes and providers, as in Triton.

Prints a table, writes CSV, and draws a plot where matplotlib (an optional extra) is present.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Benchmark", "Mark", "perf_report"]

Row = list[Any]


@dataclass
class Benchmark:
    """What to run and how to draw it.

    Attributes:
        x_names: the function's arguments that are drawn along x.
        x_vals: the x values; a tuple a row where `x_names` has several, else one value for all.
        line_arg: the argument that tells the lines apart.
        line_vals: its values.
        line_names: the label of each line.
        plot_name: title of the table, and file name of the CSV and the plot.
        args: arguments that stay the same.
        xlabel: the label of x; by default the names.
        ylabel: the label of y, for example `"GB/s"`.
        x_log: whether x is drawn in logarithmic scale.
        y_log: whether y is.
        styles: `(colour, line style)` for each line, as matplotlib takes them.
    """

    x_names: Sequence[str]
    x_vals: Sequence[Any]
    line_arg: str
    line_vals: Sequence[Any]
    line_names: Sequence[str]
    plot_name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: Sequence[tuple[str, str]] | None = None

    def __post_init__(self) -> None:
        if len(self.line_vals) != len(self.line_names):
            raise ValueError(
                f"{self.plot_name}: {len(self.line_vals)} line_vals but "
                f"{len(self.line_names)} line_names"
            )

    def points(self) -> list[tuple[Any, ...]]:
        """The x values, one tuple of `len(x_names)` values for each point."""
        rows: list[tuple[Any, ...]] = []
        for value in self.x_vals:
            row = tuple(value) if isinstance(value, (list, tuple)) else (value,) * len(self.x_names)
            if len(row) != len(self.x_names):
                raise ValueError(f"{self.plot_name}: {value!r} does not fit {list(self.x_names)}")
            rows.append(row)
        return rows


def _measure(
    fn: Callable[..., Any], bench: Benchmark, extra: Mapping[str, Any]
) -> list[tuple[tuple[Any, ...], list[tuple[Any, Any, Any]]]]:
    """For each point, `(value, low, high)` of each line; low and high are None without a band."""
    measured = []
    for point in bench.points():
        results: list[tuple[Any, Any, Any]] = []
        for line in bench.line_vals:
            named = dict(zip(bench.x_names, point, strict=True))
            value = fn(**named, **{bench.line_arg: line}, **bench.args, **extra)
            results.append(value if isinstance(value, tuple) else (value, None, None))
        measured.append((point, results))
    return measured


def _table(header: Row, rows: list[Row], precision: int) -> str:
    """The rows as aligned text."""
    cells = [[str(name) for name in header]]
    for row in rows:
        cells.append([f"{v:.{precision}f}" if isinstance(v, float) else str(v) for v in row])
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(lines)


def _draw(bench: Benchmark, measured: Any, path: Path | None, show: bool) -> None:
    """Draws the plot; without matplotlib one warning says what to install."""
    try:
        import matplotlib
    except ImportError:
        warnings.warn(
            f"{bench.plot_name}: the plot needs matplotlib (pip install matplotlib)", stacklevel=4
        )
        return
    if not show:
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    xs = [point[0] for point, _ in measured]
    for index, name in enumerate(bench.line_names):
        colour, style = bench.styles[index] if bench.styles else (None, "-")
        values, lows, highs = zip(*(results[index] for _, results in measured), strict=True)
        (line,) = axes.plot(xs, values, label=name, color=colour, linestyle=style)
        if None not in lows and None not in highs:
            axes.fill_between(xs, lows, highs, alpha=0.15, color=line.get_color())
    axes.legend()
    axes.set_xlabel(bench.xlabel or " = ".join(bench.x_names))
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if path is not None:
        figure.savefig(path)
    if show:
        plt.show()
    plt.close(figure)


class Mark:
    """A function with its benchmarks; made by `perf_report`."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | Sequence[Benchmark]) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function itself."""
        return self.fn(*args, **kwargs)

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str | Path = "",
        save_precision: int = 6,
        **kwargs: Any,
    ) -> list[dict[str, Any]] | list[list[dict[str, Any]]]:
        """Runs every benchmark.

        Args:
            show_plots: opens a window with each plot.
            print_data: prints each table.
            save_path: a folder (made where missing) for `PLOT_NAME.csv` and `PLOT_NAME.png`.
            save_precision: digits after the point in table and CSV.
            **kwargs: passed on to the function.

        Returns:
            For each point a dict of x names and line names to values; a list of such lists where
            several benchmarks were given.
        """
        one = isinstance(self.benchmarks, Benchmark)
        benches = [self.benchmarks] if isinstance(self.benchmarks, Benchmark) else self.benchmarks
        results = []
        for bench in benches:
            measured = _measure(self.fn, bench, kwargs)
            header = [*bench.x_names, *bench.line_names]
            rows = [[*point, *(value[0] for value in values)] for point, values in measured]
            if print_data:
                print(f"{bench.plot_name}:\n{_table(header, rows, save_precision)}")
            folder = Path(save_path) if save_path else None
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                with open(folder / f"{bench.plot_name}.csv", "w", newline="") as file:
                    writer = csv.writer(file)
                    writer.writerow(header)
                    writer.writerows(
                        [round(v, save_precision) if isinstance(v, float) else v for v in row]
                        for row in rows
                    )
            if folder is not None or show_plots:
                path = folder / f"{bench.plot_name}.png" if folder is not None else None
                _draw(bench, measured, path, show_plots)
            results.append([dict(zip(header, row, strict=True)) for row in rows])
        return results[0] if one else results


def perf_report(
    benchmarks: Benchmark | Sequence[Benchmark],
) -> Callable[[Callable[..., Any]], Mark]:
    """Marks a function for benchmarking; `.run(...)` of the result runs it.

    The function takes the arguments that the benchmark names and returns a number, or
    `(value, low, high)` to draw a band.

    Args:
        benchmarks: one `Benchmark` or several.

    Example:
        >>> @perf_report(Benchmark(["n"], [1, 2], "provider", ["a"], ["A"], "demo"))
        ... def bench(n, provider):
        ...     return float(n)
        >>> bench.run(print_data=True)
    """
    return lambda fn: Mark(fn, benchmarks)
