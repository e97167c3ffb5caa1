"""Rows of Dask collections, and of many files, on one machine or on a cluster.

Comes in: a dask array or dataframe, or paths of files. Goes out: `DaskRows`. `parts` says how a chunk is read wherever
it is needed, `groups` which chunks a task takes together, `source` what such rows are, `cluster` how a pass runs on
workers, and `leading` how a whole fit does, so that nothing large ever comes to whoever started it. `files` has
files that workers open by themselves, and `connecting` finds the cluster that a user names. A new kind of part, read
in a way of its own, is a class with the properties of `parts.Part`.
"""
