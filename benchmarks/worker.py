"""The other side of `harness.ask`: `python -m benchmarks.worker TASK ARGUMENTS` prints its answer as JSON."""

from __future__ import annotations

import json
import sys

from benchmarks.cases import prepare
from benchmarks.measure import machine, measure
from benchmarks.overhead import certificate_share

TASKS = {"prepare": prepare, "measure": measure, "machine": machine, "certificate_share": certificate_share}

if __name__ == "__main__":
    task, arguments = sys.argv[1:]
    print("\n" + json.dumps(TASKS[task](**json.loads(arguments))))
