"""Results into files: blocks of numbers, with columns of text beside them.

Comes in: blocks of rows, one after another. Goes out: a file that is written whole or not at all.
A new output format is one function and one line in the table `FORMATS` of `tables`, for pipes in `STREAMS` too.
"""
