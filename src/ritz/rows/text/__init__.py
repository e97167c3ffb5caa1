"""CSV and its relatives: encoding, separator, header and types are found first, then pyarrow reads the numbers.

Comes in: a text file, plain or compressed. Goes out: Rows, or an error that names line, column and cell.
In the order of work: `style` (encoding, separator), `header` (are there names?), `dialect` (both, and the kinds of
columns), `lines` (pieces of whole rows), `parsing` (cells to numbers), `reader` (the numbers of a piece, or the error
about a cell), `source` (all of it as Rows). A new separator or encoding belongs into `style`, a new spelling of
"missing" into `cells`.
"""
