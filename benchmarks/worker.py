"""The other side of `harness.ask`: `python -m benchmarks.worker TASK ARGUMENTS` prints its answer as JSON."""

from __future__ import annotations

import json
import sys

from benchmarks.cases import prepare
from benchmarks.everyday import measure_line
from benchmarks.kernel import kernel_data, measure_kernel
from benchmarks.measure import machine, measure
from benchmarks.overhead import certificate_share
from benchmarks.sensing import measure_image, measure_pursuit, sensing_image, sensing_signals
from benchmarks.sources import dense_file, log_normalised, read_and_fit, sparse_counts
from benchmarks.transition import recovered_shares
from benchmarks.usps import usps_errors

TASKS = {
    task.__name__: task
    for task in (
        *(prepare, measure, machine, certificate_share),
        *(kernel_data, measure_kernel, usps_errors),
        *(sensing_signals, measure_pursuit, sensing_image, measure_image, recovered_shares),
        measure_line,
        *(dense_file, log_normalised, read_and_fit, sparse_counts),
    )
}

if __name__ == "__main__":
    task, arguments = sys.argv[1:]
    print("\n" + json.dumps(TASKS[task](**json.loads(arguments))))
