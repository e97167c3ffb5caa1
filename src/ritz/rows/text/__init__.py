"""CSV and its relatives: encoding, separator, header and types are found first, then pyarrow reads the numbers.

Comes in: a text file, plain or compressed. Goes out: Rows, or an error that names line, column and cell.
A new separator or encoding belongs into `style`, a new spelling of "missing" into `cells`.
"""
