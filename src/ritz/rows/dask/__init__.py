"""Rows of Dask collections, and of many files, on one machine or on a cluster.

Comes in: a dask array or dataframe, or paths of files. Goes out: `DaskRows`. `graphs` finds the tasks that make each
chunk and the results that several share, `chunks` makes parts of them, `parts` says how a part is read wherever it is
needed, `groups` which parts a task takes together, `source` what such rows are, `tasks` how tasks run on workers that
may go away, `cluster` what lies on those, `rounds` how a pass runs, and `leading` how a whole fit does, so that nothing
large ever comes to whoever started it.
`columns` has wide arrays in chunks of whole columns, `files` has files that workers open by themselves, and
`connecting` finds the cluster that a user names. A new kind of part, read in a way of its own, is a class with the
properties of `parts.Part`.
"""
