"""What every test process needs: BLAS threads that give up early, and examples that are the same in every run."""

import os

from hypothesis import settings

# BLAS threads wait for work by spinning; several test processes share few cores. Read when NumPy is first imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# The same code gives the same result; `pytest --hypothesis-profile=search` looks for new examples.
settings.register_profile("search", deadline=None, print_blob=True)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
