"""What people look at: the report with its charts, and the sentences and numbers that the command line shows too.

Comes in: a fitted model, and rows for its charts. Goes out: one page of HTML, tables and sentences.
A new chart is one file here and one line in `report`.
"""
