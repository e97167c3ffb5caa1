"""What every other package runs on: threads, memory, progress, checkpoints, safe files and text, rules for parameters.

Comes in: functions to run over blocks, bytes to write, text from the data.
Goes out: results in order, files that are whole or absent, text that is safe to print.
A new thing belongs here if it knows nothing of matrices: a lock, a progress bar, a way to write a file.
"""
