"""What every test of a picture needs."""

import pytest


@pytest.fixture(autouse=True)
def plt():
    """pyplot without a screen, and without figures once the test is done."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield plt
    plt.close("all")
