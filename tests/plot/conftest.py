"""What every test of a figure needs."""

import gc

import pytest


@pytest.fixture(scope="package", autouse=True)
def imports_frozen():
    """What is imported stays: figures are full of cycles, and every search for garbage would go through all of it."""
    import matplotlib.pyplot  # noqa: F401

    gc.freeze()


@pytest.fixture(autouse=True)
def plt():
    """pyplot without a screen, and without figures once the test is done."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield plt
    plt.close("all")
