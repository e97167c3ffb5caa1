"""Sources on disk: one file per format, found by the table in `read`.

Comes in: a path. Goes out: Rows that are read part by part, by all cores.
A new format is one file here and one line in the table `FORMATS` of `read`: a `streamed.Streamed` where it comes in
parts, a `table.Table` where pyarrow reads it, a `flat.Flat` where numbers stand at regular places. `signatures` knows
how files of each format begin, and what to advise for formats that are not read: a new format is added to
`BEGINNINGS` there, and removed from `KINDS`.
"""
