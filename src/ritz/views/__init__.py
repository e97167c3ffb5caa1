"""What people look at: the report with its charts, and the sentences and numbers that the command line shows too.

Comes in: a fitted model, gathered in `findings`, and rows for its charts. Goes out: a page of HTML, tables, sentences.
A new chart is one file here, made of the shapes in `charts`, and one line in `report`; a new section of the page is a
block in `templates/sections.html`, and its words are in `sentences`.
"""
