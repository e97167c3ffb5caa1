"""Ritz beside its peers on the same data: time, extra memory, error.

    python -m benchmarks [--shape 200000x100 --dtype float64 -k 10] [--repeat 5]

Every contender runs in a process of its own. Times are the best of several fits; read the ratios, not the seconds.
Errors are against LAPACK on data centred in float64: the largest relative error of a variance, and the sine of the
angle between the subspaces.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from benchmarks.contenders import CONTENDERS, certificate_share, import_ratio, measure

SHAPES = [("200000x100", "float64", 10), ("1000000x50", "float32", 10), ("100000x784", "float64", 50)]


def run(contender: str, shape: str, dtype: str, k: int, repeat: int) -> dict[str, float]:
    job = json.dumps({"contender": contender, "shape": shape, "dtype": dtype, "k": k, "repeat": repeat})
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--job", job], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def table(shape: str, dtype: str, k: int, repeat: int) -> None:
    print(f"\n{shape} {dtype}, k={k}")
    print(f"{'':28}{'seconds':>9}{'/ bare':>8}{'extra memory':>14}{'variance off':>14}{'subspace off':>14}")
    results = {name: run(name, shape, dtype, k, repeat) for name in CONTENDERS}
    bare = results["bare X.T @ X, eigh"]["seconds"]
    for name, r in results.items():
        print(
            f"{name:28}{r['seconds']:>9.3f}{r['seconds'] / bare:>8.2f}{r['memory']:>13.1%} "
            f"{r['variance']:>13.0e} {r['subspace']:>13.0e}"
        )
    print(f"the certificate takes {certificate_share(shape, dtype, k, repeat):.1%} of the Ritz fit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", help="rows x columns, such as 200000x100")
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(measure(**json.loads(arguments.job))))
        return
    shapes = [(arguments.shape, arguments.dtype, arguments.k)] if arguments.shape else SHAPES
    for shape, dtype, k in shapes:
        table(shape, dtype, k, arguments.repeat)
    print(f"\nimport ritz takes {import_ratio():.2f} of the time of import numpy, scipy.linalg")


if __name__ == "__main__":
    main()
