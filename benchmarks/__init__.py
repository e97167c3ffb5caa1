"""Timings beside the peers, with the accuracy and peak memory of each: `python -m benchmarks`.

A new library to compare with is one entry in `contenders`, a new data set one in `cases`; a new comparison is one
file and one line in `__main__`, as `kernel`, `sensing`, `sources` (files), `commands` (the command line), `scaling`,
`planner` (is "auto" the fastest?) and `overhead` (what the certificate costs) are. `peers` is the main table;
`harness`, `worker` and `measure` run every contender in a process of its own.
"""
