"""Sources on disk: one file per format, found by the table in `read`.

Comes in: a path. Goes out: Rows that are read part by part, by all cores.
A new format is one file here and one line in the table of `read`; its line in `signatures`, which says what to do with
formats that are not read, goes. In errors `ritz.errors.FILE` stands for the path: whoever opens a file knows it.
"""
