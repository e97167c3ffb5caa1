"""Ritz beside its peers on the same data: time, extra memory, error.

    python -m benchmarks                                          the whole table of cases
    python -m benchmarks --shape 200000x100 -k 10 --only ritz --only arpack
    python -m benchmarks --data t10k-images-idx3-ubyte.gz -k 50   real data: .npy, .npz, .csv, .mat, idx
    python -m benchmarks --markdown results.json                  the table of docs/speed.md, from an earlier run
    python -m benchmarks everyday --only fit                      small fits, transforms, scores, "auto", sparse, files
    python -m benchmarks scaling                                  how the time grows with n, d and k
    python -m benchmarks planner                                  whether "auto" takes the fastest solver
    python -m benchmarks sources                                  sparse matrices, memory maps, files of 4 GB
    python -m benchmarks kernel --limit 1200                      kernel PCA beside scikit-learn's, up to 100,000 rows
    python -m benchmarks usps --data usps.mat --peer scikit-learn a published table: kernel PCA of digits, classified
    python -m benchmarks sensing --only omp                       compressed sensing: omp, fista, transition, or all
    python -m benchmarks after                                    what is asked after a fit, beside a transform
    python -m benchmarks commands --gigabytes 1                   the command line: its start, and a CSV of 1 GB
    python -m benchmarks overhead                                 what the certificate and the import cost
    python -m benchmarks cluster --repeat 3                       a Dask cluster on this machine, beside dask-ml
    python -m benchmarks gpu --device cuda                        tensors on a GPU, beside scikit-learn on the same ones
    python -m benchmarks monitoring --fits 400 --repeat 9         odd rows: false alarms, and what they cost
    python -m benchmarks stability                                1,000 resamples beside LAPACK on each of them
    python -m benchmarks coverage                                 what the intervals of resamples cover, by simulation
    python -m benchmarks ranks                                    how often each rule finds the rank; --speed: its cost
    python -m benchmarks hunt --fits 100000                       certificates of random fits, held against the truth

Every contender runs in a process of its own. Times are the best of several fits; read the ratios, not the seconds.
Errors are against LAPACK on data centred in float64: the largest relative error of a variance, and the sine of the
largest angle between the subspaces.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import (
    after,
    cluster,
    commands,
    coverage,
    everyday,
    gpu,
    kernel,
    monitoring,
    overhead,
    peers,
    planner,
    ranks,
    report,
    scaling,
    sensing,
    sources,
    stability,
    usps,
)
from benchmarks.cases import CASES, Case
from benchmarks.contenders import RITZ
from benchmarks.harness import Settings

MONITORED = 400  # fits of every line of monitoring, at most


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    tasks = [
        "peers",
        "everyday",
        "scaling",
        "planner",
        "sources",
        "kernel",
        "usps",
        "sensing",
        "after",
        "commands",
        "overhead",
        "cluster",
        "gpu",
        "monitoring",
        "stability",
        "coverage",
        "ranks",
        "hunt",
    ]
    add("what", nargs="?", choices=tasks, default="peers")
    add("--shape", metavar="RxC", help="a single case of synthetic data: rows x columns, such as 200000x100")
    add("--data", type=Path, metavar="PATH", help="a single case of real data")
    add("--transpose", action="store_true", help="the samples in PATH are its columns")
    add("--dtype", default="float64", choices=["float64", "float32"], help="of a single case (float64)")
    add("-k", type=int, default=10, help="components of a single case (10)")
    add("--only", action="append", default=[], metavar="NAME", help="contenders, sources, kernels, parts like this")
    add("--repeat", type=int, default=5, metavar="N", help="fits of each contender (5), or runs of ranks (100)")
    add("--budget", type=float, default=20.0, metavar="SECONDS", help="no more repeats after this time (20)")
    add("--limit", type=float, default=120.0, metavar="SECONDS", help="a process is given up after this time (120)")
    add("--out", type=Path, default=Path(__file__).parent / "results", metavar="FOLDER", help="(benchmarks/results)")
    add("--markdown", nargs="?", const=True, metavar="JSON", help="print the table of docs/speed.md, of JSON if given")
    add("--gigabytes", type=float, default=4.0, help="of every file that sources are read from (4)")
    add("--peer", choices=list(usps.PEERS), default=RITZ, help="whose KernelPCA usps runs with (ritz)")
    add("--fits", type=int, default=10_000, metavar="N", help="random fits of hunt (10,000), of monitoring (400)")
    add("--first", type=int, default=0, metavar="NUMBER", help="of these fits (0)")
    add("--device", default="cuda", help="of gpu, by PyTorch (cuda)")
    add("--scale", type=float, default=1.0, metavar="SHARE", help="of the sizes of gpu, such as 0.001 (1)")
    add("--speed", action="store_true", help="of ranks: what the panel costs instead of how often it is right")
    add("--quick", action="store_true", help="small sizes, to see that scaling, planner, kernel, usps and sensing work")
    return parser.parse_args()


def single(asked: argparse.Namespace) -> list[Case]:
    """The case asked for, if any."""
    if asked.data:
        return [Case(0, 0, asked.dtype, asked.k, str(asked.data.resolve()), asked.transpose)]
    return [Case.of(asked.shape, asked.dtype, asked.k)] if asked.shape else []


def main() -> None:
    asked = arguments()
    settings = Settings(max(1, asked.repeat), asked.budget, asked.limit)
    if isinstance(asked.markdown, str):
        print(report.markdown(report.load(Path(asked.markdown))))
    elif asked.what == "everyday":
        everyday.run(asked.gigabytes, asked.data, asked.only, settings)
    elif asked.what == "scaling":
        scaling.run(asked.quick, asked.dtype, settings, asked.out)
    elif asked.what == "planner":
        planner.run(single(asked) or (planner.QUICK if asked.quick else planner.GRID), settings, asked.out)
    elif asked.what == "sources":
        sources.run(asked.gigabytes, asked.data, asked.only, settings)
    elif asked.what == "kernel":
        kernel.run(kernel.QUICK if asked.quick else kernel.CASES, asked.only, settings, asked.out)
    elif asked.what == "usps":
        usps.run(asked.data, asked.peer, asked.quick, asked.out)
    elif asked.what == "sensing":
        sensing.run(asked.quick, asked.data, asked.only, settings, asked.out)
    elif asked.what == "after":
        after.run(single(asked), settings.repeat, asked.quick)
    elif asked.what == "commands":
        commands.run(asked.gigabytes, settings.repeat)
    elif asked.what == "overhead":
        overhead.run(single(asked) or CASES[:3], asked.repeat)
    elif asked.what == "cluster":
        cluster.run(asked.quick, asked.only, asked.repeat)
    elif asked.what == "gpu":
        gpu.run(asked.device, asked.scale, asked.only, settings)
    elif asked.what == "monitoring":
        monitoring.run(asked.quick, min(asked.fits, MONITORED), settings.repeat)
    elif asked.what == "stability":
        stability.run(asked.quick, asked.repeat)
    elif asked.what == "coverage":
        coverage.run(asked.quick, asked.only)
    elif asked.what == "ranks":
        ranks.run(asked.repeat if asked.speed else ranks.RUNS if asked.repeat == 5 else asked.repeat, asked.speed)
    elif asked.what == "hunt":
        from benchmarks.hunt import run as hunt  # which needs more packages than the others

        raise SystemExit(bool(hunt.run(asked.first, asked.fits)))
    else:
        results = peers.run(single(asked) or CASES, peers.chosen(asked.only), settings, asked.out)
        if asked.markdown:
            print("\n" + report.markdown(results))


if __name__ == "__main__":
    main()
