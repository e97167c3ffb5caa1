"""The People data, and T² and SPE by their definitions."""

import csv
from pathlib import Path

import numpy as np

PEOPLE = Path(__file__).parent.parent / "data" / "people.csv"


def people():
    """32 people with 12 measurements, and the names of the columns."""
    with PEOPLE.open() as file:
        head, *lines = csv.reader(file)
    return np.array([[float(cell) for cell in line[1:]] for line in lines]), head[1:]


def by_definition(X, k, ddof=1, center=True, scale=False, rows=None):
    """T² and SPE of rows, of the fit unless others are given, by an SVD of the preprocessed data and nothing else."""
    rows = X if rows is None else rows
    mean = X.mean(axis=0) if center else np.zeros(X.shape[1])
    divisor = len(X) - ddof
    deviations = np.sqrt(((X - mean) ** 2).sum(axis=0) / divisor) if scale else np.ones(X.shape[1])
    _, s, Vt = np.linalg.svd((X - mean) / deviations, full_matrices=False)
    Z = (rows - mean) / deviations
    T, V = Z @ Vt[:k].T, Vt[:k].T
    return (T**2 / (s[:k] ** 2 / divisor)).sum(axis=1), ((Z - T @ V.T) ** 2).sum(axis=1)
