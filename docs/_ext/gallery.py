"""The order of the examples: as the notes come to their subjects, then what belongs to all of them."""

from __future__ import annotations

from pathlib import Path

ORDER = (
    "usage_intensity",
    "rotating_object",
    "dual_components",
    "eigenfaces",
    "curved_data",
    "is_it_linear",
    "image_compression",
    "denoising",
    "decorrelation",
    "clustering",
    "retrieval",
    "power_iteration",
    "which_solver",
    "a_tour_of_plots",
)


class Order:
    """Sphinx-Gallery's key of an example: its place. An example without one is an error of the build.

    >>> Order("examples")("plot_eigenfaces.py")
    3
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        stem = Path(name).stem.removeprefix("plot_")
        if stem not in ORDER:
            raise ValueError(f"docs/examples/{name} has no place in ORDER of docs/_ext/gallery.py: give it one")
        return ORDER.index(stem)

    def __repr__(self) -> str:  # Sphinx builds anew when the configuration looks different
        return f"Order({', '.join(ORDER)})"
