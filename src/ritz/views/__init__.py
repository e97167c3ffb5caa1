"""What people look at: the report with its charts, and the sentences and numbers that the command line shows too.

Comes in: a fitted model, gathered in `findings`, and rows for its charts. Goes out: a page of HTML, tables, sentences.
A new chart is a function in `charts` (scree, together, weights) or a file of its own, as `scatter` is, with `axes` for
its scales; `report` calls it, and `templates/sections.html` has the block that it stands in. What the page says in
words is in `sentences`, what it explains in `glossary`, how numbers are written in `format`.
"""
