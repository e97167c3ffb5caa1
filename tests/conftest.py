"""BLAS threads wait for work by spinning; where several test processes share few cores, they must give up early."""

import os

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # read when NumPy is first imported
