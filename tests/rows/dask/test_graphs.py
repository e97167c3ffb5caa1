"""What chunks share is found, and is no more than it has to be."""

import dask.array as da
import numpy as np
import pytest

from ritz.rows.dask.graphs import FEW, Graph, given

X = np.random.default_rng(0).standard_normal((100, 3))


def drawn(chunks):
    return da.random.default_rng(0).standard_normal((100, 3), chunks=chunks)


def centred():
    x = drawn((10, 3))
    return (x - x.mean(axis=0)) / x.std(axis=0)


# Collections of 10 chunks, or of 4, and how many results of their graphs are shared.
SHARED = {
    "from an array": (lambda: da.from_array(X, chunks=(10, 3)) + 1, 0),
    "made by tasks": (lambda: drawn((10, 3)) * 2, 0),
    "centred and scaled": (centred, 2),  # the mean and the deviations; not the rows that these are made from
    "neighbours": (lambda: da.overlap.overlap(drawn((10, 3)), {0: 2, 1: 0}, boundary="none"), 10),
    "each from those before": (lambda: drawn((10, 3)).cumsum(axis=0), 9),
    "columns to rows": (lambda: drawn((100, 1)).rechunk((25, 3)), 3),
    "twice": (lambda: da.concatenate([drawn((20, 3))] * 2), 5),
}


@pytest.mark.parametrize("kind", SHARED)
def test_what_several_chunks_need_is_shared(kind):
    collection, count = SHARED[kind][0](), SHARED[kind][1]
    graph = Graph.of(collection)
    shared = graph.shared()
    assert len(shared) == count
    # Every other task is that of one chunk.
    own = [set(graph.behind([key], shared)[0]) for key in graph.chunks]
    tasks = [key for some in own for key in some if getattr(graph.tasks[key], "dependencies", ())]
    assert len(tasks) == len(set(tasks))


def test_inputs_of_few_tasks_are_computed_again_where_there_is_no_room():
    assert Graph.of(SHARED["neighbours"][0]()).shared(FEW + 1) == []
    assert len(Graph.of(centred()).shared(FEW + 1)) == 2


def test_large_data_inside_a_graph_is_found():
    graph = Graph.of(da.from_array(np.ones((100, 20_000)), chunks=(50, 20_000)))
    assert len(graph.heavy(1 << 20)) == 2
    assert graph.heavy(1 << 24) == []


@pytest.mark.parametrize("value", [("x", 1), [("y", 0)], "y", (len, "abc"), {"a": "y"}, np.arange(3)])
def test_a_value_is_not_taken_for_a_task(value):
    from dask import get

    found = get({**given({"x": value}), "y": 7, "z": (lambda x: x, "x")}, "z")
    assert found is value
