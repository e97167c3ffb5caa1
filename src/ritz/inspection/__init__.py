"""Is the data sane: codes for missing values, duplicates, columns that are sums, units, heavy tails, ordered rows.

Comes in: rows before a fit. Goes out: findings, each with the place and with what would treat it. A new check is a
function of a sample of the rows, and a line in the table of checks.
"""
