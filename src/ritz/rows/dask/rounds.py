"""A pass on a Dask cluster, which is one round: a task for every group of parts, and a fixed tree of merges."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Future

from ritz.rows.dask.cluster import Cluster, keys_of
from ritz.rows.dask.groups import Group, Pass, beside_parts, bundles, folded
from ritz.rows.dask.source import DaskRows
from ritz.runtime.threads import alone
from ritz.runtime.watch import UNWATCHED


def reduced(rows: DaskRows, job: Pass, beside: Any) -> Any:
    """The result of a pass: combine over f of every group, along a binary tree."""
    counted: set[int] = set()  # groups that progress was told of: not again when a worker was lost

    def advance(i: int, count: int) -> Callable[[Future], None]:
        def done(future: Future) -> None:
            if future.status == "finished" and i not in counted:
                counted.add(i)
                rows.watch.advance(count)

        return done

    unwatched = replace(job, rows=job.rows.watched(UNWATCHED))  # workers may be threads of this process
    needed = keys_of(part for group in rows.groups for part in group.parts)
    return rows.cluster.again(lambda: _round(rows, unwatched, beside, advance), needed)


def _round(rows: DaskRows, job: Pass, beside: Any, advance: Callable[[int, int], Any]) -> Any:
    cluster: Cluster = rows.cluster
    shared, token = cluster.shared(job), uuid4().hex[:8]
    homes: dict[str, list[Placed]] = {}
    for i, (group, (home, opened, needed)) in enumerate(zip(rows.groups, _opened(rows), strict=True)):
        values = beside_parts(group, beside)
        values = values if values is None or isinstance(beside, range) else cluster.sent(values)
        # Chunks are large, and Dask would move them to any worker that has less to do at the moment.
        bound = home if group.is_anchored else ""
        name = f"ritz-rows-{token}-{i}"
        part = cluster.submit(_partial, opened, shared, values, *needed, name=name, home=bound)
        if rows.watch.progress is not None:
            part.add_done_callback(advance(i, group.rows))
        homes.setdefault(group.home, []).append(Placed(part, bound))
    # First those of the same worker, so that one result of each travels.
    name, size = f"ritz-merge-{token}", job.bundle
    tops = [_merged(cluster, some, shared, f"{name}-{i}", size) for i, some in enumerate(homes.values())]
    with cluster.naming(part for group in rows.groups for part in group.parts):
        return cluster.result(_merged(cluster, tops, shared, name, size).future)


def _merged(cluster: Cluster, level: list[Placed], shared: Future, name: str, size: int) -> Placed:
    """One of many, by a binary tree, of which a task does a bundle, on the worker that has the first of it."""
    height = 0
    while len(level) > 1:
        some, level, height = list(bundles(level, size)), [], height + 1
        for i, parts in enumerate(some):
            home, futures = parts[0].home, [part.future for part in parts]
            if len(parts) > 1:
                task = cluster.submit(_merge, shared, *futures, name=f"{name}-{height}-{i}", home=home)
                level.append(Placed(task, home))
            else:
                level.append(parts[0])
    return level[0]


class Placed(NamedTuple):
    """A result to come, and the worker that it is bound to, "" for none."""

    future: Future
    home: str


class Opened(NamedTuple):
    """A group that a worker knows, and the results that it needs: to ask for them in every pass would cost as much."""

    home: str
    group: Future
    needed: list[Future]


def _opened(rows: DaskRows) -> list[Opened]:
    """The groups on the workers that are to read them: neighbours on the same one, so that merges stay there.

    They are sent once, and again after workers were lost.
    """
    cluster: Cluster = rows.cluster
    known = rows.opened.get(cluster.losses)
    if known is None:
        token = uuid4().hex[:8]
        known = [
            Opened(
                home,
                cluster.submit(_identity, group, name=f"ritz-open-{token}-{i}", home=home),
                [cluster.future(key) for key in group.needs],
            )
            for i, (group, home) in enumerate(zip(rows.groups, spread(rows), strict=True))
        ]
        rows.opened.clear()
        rows.opened[cluster.losses] = known
    return known


def spread(rows: DaskRows) -> list[str]:
    """Which worker reads each group: the one that has it, or each its share of neighbours."""
    homes, shares = rows.cluster.homes([group.parts[0] for group in rows.groups]), rows.cluster.spread(len(rows.groups))
    return [home or share for home, share in zip(homes, shares, strict=True)]


def load(rows: DaskRows) -> list[Future]:
    """The parts of all groups in the memory of the workers that are to read them."""
    homes = [home for group, home in zip(rows.groups, spread(rows), strict=True) for _ in group.parts]
    return rows.cluster.keep([part for group in rows.groups for part in group.parts], homes)


def _identity(group: Group) -> Group:
    return group


def _partial(group: Group, job: Pass, beside: Any, *results: Any) -> Any:
    return job(group, dict(zip(group.needs, results, strict=True)), beside)


def _merge(job: Pass, *partials: Any) -> Any:
    """Into copies: a task that is repeated must find what it was given."""
    with alone():
        return folded(job.combine, (deepcopy(partial) for partial in partials))
