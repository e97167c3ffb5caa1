"""The pictures of kernel.md, sensing.md and guide/how_many.md, drawn from what their examples compute.

`python docs/figures.py` redraws them all, `python docs/figures.py sensing` those of one page (needs matplotlib).
"""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import ritz

HERE = Path(__file__).parent
INNER, OUTER = "#d55e00", "#0072b2"  # of Okabe and Ito's palette, which colour-blind readers can tell apart
ANGLES = "twilight_shifted"  # begins and ends with the same colour, as a full turn does
APART = 5  # steps between the two views whose middle is shown
FIRST = 22  # the earlier one of them
WAYS = {  # how sensing.md keeps images: colour and marker of each
    "PCA": ("PCA: scores", "#d55e00", "^"),
    "wavelets": ("thresholded wavelets: values,\nplaces not counted", "#0072b2", "s"),
    "sensing": ("compressed sensing:\nmeasurements", "#009e73", "o"),
}
SHOWN = (("PCA", 40), ("wavelets", 50), ("wavelets", 400), ("sensing", 800), ("sensing", 1600), ("sensing", 2400))
PLANES = ("PCA: twice round, opposite views on top of each other", "Kernel PCA: once round")


def main() -> None:
    plt.rcParams.update({"font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False})
    drawings = {
        "kernel": {"rings": curved, "digits": digits, "rotation": rotation},
        "sensing": {"errors": errors, "images": images},
        "guide/how_many": {"scree": scree},
    }
    for page in sys.argv[1:] or drawings:
        names = computed(HERE / f"{page}.md")
        for name, draw in drawings[page].items():
            figure = draw(names)
            figure.savefig(HERE / f"{page}_{name}.png", dpi=110)
            plt.close(figure)


def computed(page: Path) -> dict[str, Any]:
    """What the examples of a page leave behind, those left out that show an error."""
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        examples = doctest.DocTestParser().get_examples(block)
        for source in [e.source for e in examples if e.exc_msg is None] if examples else [block]:
            exec(compile(source, page.name, "exec"), names)
    return names


def curved(names: dict[str, Any]) -> Any:
    """The rings and the sheet: rows, PCA, kernel PCA."""
    figure = plt.figure(figsize=(9, 6), layout="constrained")
    axes = [figure.add_subplot(2, 3, i + 1, projection="3d" if i == 3 else None) for i in range(6)]
    for axis, points in zip(axes, (names["rings"], names["flat_rings"], names["round_rings"]), strict=False):
        for label, colour, marker in ((0, OUTER, "o"), (1, INNER, "^")):
            axis.plot(*points[names["ring"] == label].T, marker, color=colour, ms=3, alpha=0.8)
    sheet, along = names["sheet"], names["along"]
    axes[3].scatter(sheet[:, 0], sheet[:, 1], sheet[:, 2], c=along, s=5)
    axes[3].view_init(elev=15, azim=-75)
    axes[3].set(xticks=[], yticks=[], zticks=[])
    for axis, points in zip(axes[4:], (names["flat_sheet"], names["unrolled"][2]), strict=True):
        shown = axis.scatter(points[:, 0], points[:, 1], c=along, s=5)
    axes[5].plot(0, 0, "+", color="black", ms=14, mew=1.5)
    axes[5].annotate("origin", (0, 0), (9, -9), textcoords="offset points", va="center")
    bar = figure.colorbar(shown, ax=axes[5], ticks=[])
    bar.set_label("true place along the S")
    titles = ("Two rings", "PCA: no line separates them", "Kernel PCA, γ = 3: PC1 does")
    titles += ("A sheet in space", "PCA: still an S", "Kernel PCA, γ = 2: round the origin")
    for i, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        axis.set_title(title)
        if i % 3:
            axis.set(xlabel="PC1", ylabel="PC2", xticks=[], yticks=[])
    axes[0].set(aspect="equal", xticks=[], yticks=[])
    axes[1].set_aspect("equal")
    return figure


def digits(names: dict[str, Any]) -> Any:
    """One of each digit, four times."""
    one_of_each = np.unique(names["names"][names["mixed"][1000:]], return_index=True)[1]
    best = min(names["by_pca"], key=lambda k: names["error"](names["by_pca"][k], names["clean"]))
    rows = {
        "clean": names["clean"],
        "with noise": names["noisy"],
        f"PCA,\n{best} components": names["by_pca"][best],
        "kernel PCA,\n150 components": names["by_kernel"][150],
    }
    figure, axes = plt.subplots(len(rows), 10, figsize=(9, 3.4), layout="constrained")
    for line, (label, images) in zip(axes, rows.items(), strict=True):
        for axis, i in zip(line, one_of_each, strict=True):
            picture(axis, images[i], "gray_r", 1.0)
        off = names["error"](images, names["clean"])
        text = f"{label}\nerror {off:.3f}" if off else label
        line[0].set_ylabel(text, rotation=0, ha="right", va="center", labelpad=8)
    return figure


def rotation(names: dict[str, Any]) -> Any:
    """Views all round; the curve in two planes; and a view between two others."""
    views, turns = names["views"], np.degrees(names["turns"])
    figure = plt.figure(figsize=(9, 6.2), layout="constrained")
    top, middle, bottom = figure.subfigures(3, 1, height_ratios=[1, 3, 1.35])
    for axis, i in zip(top.subplots(1, 12), range(0, 72, 6), strict=True):
        picture(axis, views[i], "gray", views.max())
        axis.set_title(f"{turns[i]:.0f}°")
    axes = middle.subplots(1, 2)
    flat, curve = names["flat_views"], names["round_views"]
    for axis, scores, title in ((axes[0], flat, PLANES[0]), (axes[1], curve, PLANES[1])):
        axis.plot(*np.vstack([scores, scores[:1]])[:, :2].T, color="#bbbbbb", lw=1, zorder=0)
        for half, size in ((slice(36), 75), (slice(36, 72), 16)):
            shown = axis.scatter(*scores[half, :2].T, c=turns[half], cmap=ANGLES, vmin=0, vmax=360, s=size)
        for i, side in ((0, 1.13), (18, 1.13), (36, 0.86), (54, 0.86)):  # the second half turn inside
            axis.text(*(side * scores[i, :2]), f"{turns[i]:.0f}°", ha="center", va="center")
        axis.set(title=title, xlabel="PC1", ylabel="PC2", xticks=[], yticks=[], aspect="equal")
    middle.colorbar(shown, ax=axes, ticks=range(0, 361, 90), label="angle of the view, degrees")
    for axis, (title, image) in zip(bottom.subplots(1, 5), between(names).items(), strict=True):
        picture(axis, image, "gray", views.max())
        axis.set_title(title)
        axis.title.set_fontsize(9)
    return figure


def between(names: dict[str, Any]) -> dict[str, Any]:
    """Two views, and three answers to what lies between them."""
    views, scores, second = names["views"], names["round_views"], FIRST + APART
    truth = names["between"][FIRST + APART // 2]
    mean = (views[FIRST] + views[second]) / 2
    half = names["fit_views"].inverse_transform((scores[[FIRST]] + scores[[second]]) / 2)[0]
    return {
        f"view at {5 * FIRST}°": views[FIRST],
        f"mean of both views,\nerror {names['error'](mean, truth):.4f}": mean,
        f"pre-image of the mean of\nboth scores, error {names['error'](half, truth):.4f}": half,
        f"true view at {5 * (FIRST + APART / 2)}°": truth,
        f"view at {5 * second}°": views[second],
    }


def errors(names: dict[str, Any]) -> Any:
    """Error against numbers kept per image, for images of the kind PCA knows and of another."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, (kind, truth) in zip(axes, names["kinds"].items(), strict=True):
        for way, (label, colour, marker) in WAYS.items():
            counts = names["ways"][way][1]
            off = [names["error"](names["kept"][way, count][kind], truth) for count in counts]
            axis.plot(counts, off, marker=marker, color=colour, label=label)
        axis.set(xscale="log", yscale="log", xlabel="numbers kept per image (of 4,096 pixels)", ylim=(0.012, 1))
        axis.set_xticks([5, 10, 20, 50, 100, 200, 500, 1000, 2500], minor=False)
        axis.set_yticks([0.02, 0.05, 0.1, 0.2, 0.5, 1], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"])
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].set(title="Views between those that PCA was trained on", ylabel="relative error")
    axes[1].set_title("The same views upside down")
    axes[0].legend(loc="lower left", frameon=False)
    return figure


def images(names: dict[str, Any]) -> Any:
    """One view and one upside down, in every way."""
    figure, axes = plt.subplots(2, 1 + len(SHOWN), figsize=(9, 3.2), layout="constrained")
    for line, (kind, truth), i in zip(axes, names["kinds"].items(), (0, 1), strict=True):
        line[0].set_ylabel({"as known": "a view like\nthose PCA knows"}.get(kind, kind))
        for axis, shown in zip(line, (None, *SHOWN), strict=True):
            image = truth if shown is None else names["kept"][shown][kind]
            picture(axis, image[i], "gray", 1.0)
            if shown is not None:
                axis.set_xlabel(f"error {names['error'](image[[i]], truth[[i]]):.2f}")
    titles = {"PCA": "PCA,\n{} scores", "wavelets": "wavelets,\n{:,} values", "sensing": "sensing, {:,}\nmeasurements"}
    axes[0, 0].set_title("image,\n4,096 pixels")
    for axis, (way, count) in zip(axes[0, 1:], SHOWN, strict=True):
        axis.set_title(titles[way].format(count))
    for axis in axes[0]:
        axis.title.set_fontsize(9)
    return figure


def scree(names: dict[str, Any]) -> Any:
    """Digits and noise, each with what noise alone reaches."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, (title, model) in zip(axes, {"400 digits": "auto", "100 rows of noise": "nothing"}.items(), strict=True):
        ritz.plot.scree(names[model], ax=axis)
        axis.set_title(f"{title}: {axis.get_title()}")
        axis.title.set_fontsize(10)
    return figure


def picture(axis: Any, image: Any, colours: str, brightest: float) -> None:
    side = round(len(image) ** 0.5)
    axis.imshow(image.reshape(side, side), cmap=colours, vmin=0, vmax=brightest)
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


if __name__ == "__main__":
    main()
