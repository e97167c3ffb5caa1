"""The command line beside what it stands on: its start beside NumPy's, `ritz fit` of a CSV beside pyarrow's parse.

    python -m benchmarks commands --gigabytes 1

`ritz fit` reads, decides, fits, writes the model, the scores of all rows and the report. What it is compared with only
parses the file with `pyarrow.csv.read_csv` and fits the array: the part that nobody can do without.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS, BLOCK = 100, 10_000
BARE = """
import sys, time, numpy as np, pyarrow.csv
from ritz import PCA
begun = time.perf_counter()
table = pyarrow.csv.read_csv(sys.argv[1])
parsed = time.perf_counter()
X = np.column_stack([column.to_numpy() for column in table.columns])
del table
stacked = time.perf_counter()
PCA(10).fit(X)
print(parsed - begun, time.perf_counter() - stacked)
"""


def run(gigabytes: float, repeat: int) -> None:
    """Print both comparisons."""
    program = str(Path(sysconfig.get_path("scripts")) / "ritz")
    help_, numpy = best([program, "--help"], 2 * repeat), best([sys.executable, "-c", "import numpy"], 2 * repeat)
    print(f"ritz --help: {help_:.3f} s, {help_ / numpy:.2f}× python -c 'import numpy' ({numpy:.3f} s)")
    for words, mean, spread in (("of many lengths", 0.0, 100.0), ("all of one length", 5.0, 1.0)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "numbers.csv"
            rows = write_csv(path, gigabytes, mean, spread)
            print(f"\n{path.stat().st_size / 1e9:.2f} GB of CSV, {rows} × {COLUMNS} numbers {words}")
            _compare(program, path, repeat)


def _compare(program: str, path: Path, repeat: int) -> None:
    fits, bares = [], []
    for _ in range(repeat):
        parsed, fitted = map(float, output([sys.executable, "-c", BARE, str(path)]).split())
        bares.append((parsed + fitted, parsed, fitted))
        fits.append(timed_fit(program, path))
    seconds, parsed, fitted = min(bares)
    total, spoke, memory = min(fits)
    print(f"pyarrow's parse {parsed:.2f} s + PCA(10).fit {fitted:.2f} s = {seconds:.2f} s")
    print(
        f"ritz fit -k 10: {total:.2f} s = {total / seconds:.2f}×, first word after {spoke:.2f} s, "
        f"peak memory {memory / 1e9:.2f} GB"
    )


def write_csv(path: Path, gigabytes: float, mean: float, spread: float) -> int:
    """Numbers with six decimals under a header; returns how many rows."""
    rng, rows = np.random.default_rng(0), 0
    scales = spread * 1.05 ** -np.arange(COLUMNS)
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(COLUMNS)) + "\n")
        while file.tell() < gigabytes * 1e9:
            block = mean + rng.standard_normal((BLOCK, COLUMNS)) * scales
            file.write("\n".join(",".join(f"{value:.6f}" for value in row) for row in block.tolist()) + "\n")
            rows += BLOCK
    return rows


def timed_fit(program: str, path: Path) -> tuple[float, float, int]:
    """Seconds of a whole fit, seconds until it says anything, and bytes at its peak."""
    begun = time.perf_counter()
    command = [program, "fit", str(path), "-k", "10", "--force"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    process.stderr.read(1)
    spoke = time.perf_counter() - begun
    process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"ritz fit ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begun, spoke, used.ru_maxrss * 1024


def best(command: list[str], repeat: int) -> float:
    """Seconds, of the quickest run."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begun)
    return min(times)


def output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
