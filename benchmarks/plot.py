"""Pictures: the peers' times beside Ritz's, how Ritz's time grows, and where sparse signals begin to come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import BARE, CONTENDERS, RITZ
from benchmarks.harness import MEASURED
from benchmarks.report import ACCURATE, accurate, measured, title

COLOURS = {
    "bare": "#888888",
    "Ritz": "#000000",
    "scikit-learn": "#d95f02",
    "scikit-learn-intelex": "#1f78b4",
    "fbpca": "#7a3fa0",
    "prince": "#1b9e77",
    "torch": "#c2185b",
}
MARKERS = {
    "auto": "o",
    "covariance_eigh": "s",
    "full": "^",
    "arpack": "D",
    "randomized": "v",
    "sklearn": "P",
    "scipy": "X",  # the engines of prince
}
PROMISED = {"marker": "o", "ms": 10, "mec": "black", "mew": 1.8, "ls": "none"}
GIVEN_UP = r"$\rightarrow$"  # an arrow: somewhere to the right of here


def peers(results: dict[str, Any], path: Path) -> None:
    """A row for each case, a mark for each contender: time relative to Ritz, hollow where the answer is wrong."""
    plt = _pyplot()
    cases = [record for record in results["cases"] if RITZ in measured(record)]
    if not cases:
        return
    figure, axis = plt.subplots(figsize=(12, 2.4 + 0.66 * len(cases)), layout="constrained")
    for row, record in enumerate(cases):
        _case_row(axis, row, record, results["settings"]["limit"])
    axis.axvline(1, color="black", lw=1.2, zorder=1)
    axis.set_yticks(range(len(cases)), [_label(record) for record in cases], fontsize=9)
    axis.set_ylim(len(cases) - 0.45, -0.55)
    _ratio_axis(axis)
    machine = results["machine"]
    axis.set_title(
        "How long PCA takes on the same data, relative to Ritz\n"
        f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}; each fit in its own process, best of several",
        fontsize=11,
    )
    _legend(axis, {name for record in cases for name in measured(record)})
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _case_row(axis, row: int, record: dict[str, Any], limit: float) -> None:
    """Contenders a little apart in height, so that equal times do not hide one another."""
    ritz = measured(record)[RITZ]["seconds"]
    shown = {name: f for name, f in record["contenders"].items() if f["status"] == MEASURED or f["status"][0] == ">"}
    axis.axhspan(row - 0.44, row + 0.44, color="#f4f4f4", zorder=0)
    for offset, (name, found) in zip(np.linspace(-0.34, 0.34, len(shown)), shown.items(), strict=True):
        height = row if name == RITZ else row + offset
        if found["status"] == MEASURED:
            axis.plot(found["seconds"] / ritz, height, **_style(name, accurate(found)))
        else:
            axis.plot(limit / ritz, height, **{**_style(name, filled=False), "marker": GIVEN_UP, "ms": 9})


def _style(name: str, filled: bool = True) -> dict[str, Any]:
    library = next(contender.library for contender in CONTENDERS if contender.name == name)
    colour = COLOURS[library]
    marker = {"Ritz": "*", "bare": "|"}.get(library, MARKERS.get(name.split()[-1], "h"))
    size, order = {"*": (15, 5), "|": (14, 3)}.get(marker, (7, 3))
    face = colour if filled else "white"
    return {"marker": marker, "ms": size, "mfc": face, "mec": colour, "mew": 1.4, "ls": "none", "zorder": order}


def _legend(axis, names: set[str]) -> None:
    from matplotlib.lines import Line2D

    shown = [contender.name for contender in CONTENDERS if contender.name in names]
    labels = {BARE: "bare product (floor, no answer)", RITZ: "Ritz"}
    handles = [Line2D([], [], label=labels.get(name, name), **_style(name)) for name in shown]
    grey = {"mec": "#555555", "mew": 1.4, "ls": "none", "ms": 7}
    handles += [
        Line2D([], [], label="", ls="none"),
        Line2D([], [], marker="o", mfc="#555555", label=f"filled: variances right to {ACCURATE:.0e}", **grey),
        Line2D([], [], marker="o", mfc="white", label="hollow: wrong beyond that", **grey),
        Line2D([], [], marker=GIVEN_UP, mfc="white", label="given up at the time limit", **grey),
    ]
    axis.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)


def _label(record: dict[str, Any]) -> str:
    seconds = measured(record)[RITZ]["seconds"]
    return f"{title(record)}\nRitz: {seconds:.3g} s"


def _ratio_axis(axis) -> None:
    """Plain numbers (2, 10, 50) instead of powers of ten, since ratios are read as numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1000 else (1,)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}×"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(axis="x", color="#dddddd", lw=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False)
    axis.set_xlabel("← faster than Ritz        time relative to Ritz, log scale        slower than Ritz →")


def scaling(results: dict[str, Any], path: Path) -> None:
    """A panel for each of n, d and k: points, and the power law fitted through them."""
    plt = _pyplot()
    figure, axes = plt.subplots(1, len(results["laws"]), figsize=(13, 4.6), layout="constrained", sharey=True)
    for axis, law in zip(axes, results["laws"], strict=True):
        for name, curve in law["curves"].items():
            _law(axis, name, curve)
        sizes = max((curve["sizes"] for curve in law["curves"].values()), key=len, default=[])
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks(sizes, [f"{size}" for size in sizes])
        axis.set_xticks([], minor=True)
        axis.set_xlabel(law["variable"])
        axis.set_title(law["title"], fontsize=10)
        axis.grid(color="#dddddd", lw=0.8)
        axis.legend(fontsize=9)
    axes[0].set_ylabel("seconds for a fit")
    machine = results["machine"]
    figure.suptitle(
        f"How the time of a fit grows ({machine['cpu']}, {machine['cores']} cores, {machine['date']})\n"
        "hollow: a randomized solver, whose error nobody checked",
        fontsize=11,
    )
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _law(axis, name: str, curve: dict[str, Any]) -> None:
    sizes, exponent = np.array(curve["sizes"], float), curve["exponent"]
    colour = _style(name)["mec"]
    label = f"{name}: exponent {exponent:.2f}"
    axis.plot(sizes, curve["factor"] * sizes**exponent, color=colour, lw=1, label=label)
    for size, seconds, solver in zip(sizes, curve["seconds"], curve["solvers"], strict=True):
        axis.plot(size, seconds, "o", mec=colour, mfc="white" if solver == "randomized" else colour)


def transition(results: dict[str, Any], path: Path) -> None:
    """The share of signals that come back as a heat map, the curve that theory gives, and the points promised."""
    plt = _pyplot()
    measured, sparse = np.array(results["measured"]), np.array(results["sparse"])
    figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
    shares = 100 * np.array(results["shares"]).T  # s/m upwards
    map_ = axis.pcolormesh(measured, sparse, shares, cmap="cividis", vmin=0, vmax=100, shading="nearest")
    figure.colorbar(map_, label=f"% of {results['signals']} signals recovered in every cell", pad=0.02)
    limits = axis.get_xlim(), axis.get_ylim()
    axis.plot(*_donoho_tanner(), color="white", lw=4.5)
    axis.plot(*_donoho_tanner(), color="#d95f02", lw=2.5, label="Donoho and Tanner's curve")
    promised = [point for point in results["checked"] if point["solver"] == "fista"]
    for point in promised:
        _promise(axis, point)
    axis.plot([], [], label=f"promised: share of {promised[0]['signals']} signals", **PROMISED, mfc="white")
    axis.set(xlim=limits[0], ylim=limits[1], xticks=measured, yticks=sparse)
    axis.set_xlabel("measurements per entry, m/N", fontsize=12)
    axis.set_ylabel("nonzero coefficients per measurement, s/m", fontsize=12)
    axis.set_title(
        f"Sparse signals of length {results['length']} from Gaussian measurements: least l1 norm, by FISTA", fontsize=12
    )
    axis.legend(loc="upper left", fontsize=11, framealpha=1)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _donoho_tanner() -> tuple[np.ndarray, np.ndarray]:
    """m/N and s/m along the curve, which does not depend on N but for whole numbers."""
    from ritz.sensing.phase_transition import determined

    fine = 40_000
    m = np.linspace(0.005, 0.995, 199) * fine
    return m / fine, np.array([determined(round(each), fine) for each in m]) / m


def _promise(axis, point: dict[str, Any]) -> None:
    """A point with the share that was found there; filled where it is as promised."""
    at, face = (point["measured"], point["sparse"]), "white" if point["holds"] else "none"
    axis.plot(*at, mfc=face, **PROMISED)
    box = {"boxstyle": "round,pad=0.25", "fc": "white", "ec": "#555555"}
    text = f"{point['share']:.0%} (asked: {point['asked']})"
    axis.annotate(text, at, (0, 12), textcoords="offset points", ha="center", fontsize=10, bbox=box)


def _pyplot():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt
