"""What is tried after the first plan of a fit, and that a solver that was named is the only one."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ritz.fitting.costs import Rates
from ritz.fitting.request import Request
from ritz.fitting.solve import Attempts, Further, Lack, lacking
from ritz.rows import as_rows

ROWS = as_rows(np.zeros((3000, 600)))
KRYLOV, DIRECT, SVD = ({"solver": name} for name in ("krylov", "covariance", "svd"))
FOUND = SimpleNamespace(count=3000, diagonal=np.ones(600))


def result(satisfied=True, enough=True, completeness="proved", complete_to=5, rank=5, left_out_seen=True):
    certificate = SimpleNamespace(
        satisfied=satisfied, completeness=completeness, complete_to=complete_to, rank=rank, values=np.ones(5)
    )
    return SimpleNamespace(
        certificate=certificate,
        spectrum=SimpleNamespace(certificate=certificate),
        enough=enough,
        left_out_seen=left_out_seen,
    )


LACKING = {
    None: {},
    Lack.ACCURACY: {"satisfied": False, "enough": False},
    Lack.SHARE: {"enough": False, "completeness": "not excluded", "complete_to": 3},
    Lack.COMPLETENESS: {"completeness": "not excluded", "complete_to": 3, "left_out_seen": False},
    Lack.SMALL_VARIANCES: {"left_out_seen": False},
}
TRIED = {
    None: "",
    Lack.ACCURACY: "FLOAT64 DIRECT SVD",
    Lack.SHARE: "FLOAT64 DIRECT",
    Lack.COMPLETENESS: "FLOAT64 DIRECT",
    Lack.SMALL_VARIANCES: "SVD",
}


def attempts(asked="auto", limit=1 << 40, **plan):
    """Of a request to be fitted by that solver, first of all by such a plan."""
    found = Attempts.of(ROWS, Request(n_components=5, solver=asked))
    first = replace(found.first, precision="float32", **plan)
    return Attempts(ROWS, Request(n_components=5, solver=asked, limit=limit), first)


def tried(policy, lack):
    plans = {further.name: policy.next(further, result(**LACKING[lack]), FOUND) for further in Further}
    return " ".join(name for name, plan in plans.items() if plan is not None)


@pytest.mark.parametrize("lack", [None, *Lack])
def test_the_gravest_lack_decides_what_is_tried(lack):
    assert lacking(result(**LACKING[lack]), Request(n_components=5), FOUND) is lack
    assert tried(attempts(**KRYLOV), lack) == TRIED[lack]


@pytest.mark.parametrize(
    ("lack", "why"), [(Lack.SHARE, "takes so many components"), (Lack.COMPLETENESS, "larger component was missed")]
)
def test_a_full_decomposition_after_an_iteration_has_its_reason(lack, why):
    assert why in attempts(**KRYLOV).next(Further.DIRECT, result(**LACKING[lack]), FOUND).why


@pytest.mark.parametrize("lack", [None, *Lack])
@pytest.mark.parametrize("solver", ["covariance", "krylov", "orthogonal"])
def test_a_named_solver_is_at_most_repeated_in_float64(solver, lack):
    assert tried(attempts(solver), lack) == ("FLOAT64" if lack is Lack.ACCURACY else "")


def test_each_solver_is_tried_once():
    assert "DIRECT" not in tried(attempts(**DIRECT), Lack.ACCURACY)
    finest = attempts(**SVD)
    assert not tried(replace(finest, first=replace(finest.first, precision="float64")), Lack.ACCURACY)


def test_nothing_beyond_the_memory_allowed_is_tried():
    assert tried(attempts(limit=1000, memory=1000, **KRYLOV), Lack.ACCURACY) == "FLOAT64"


def test_only_accuracy_and_the_share_are_worth_any_time(monkeypatch):
    monkeypatch.setattr("ritz.fitting.costs.rates", lambda: Rates(product=1e3, narrow=1e3, thin=1e3, reduction=1e3))
    slow = attempts(seconds=1e6, **KRYLOV)
    assert tried(slow, Lack.ACCURACY) == TRIED[Lack.ACCURACY]
    assert tried(slow, Lack.SHARE) == TRIED[Lack.SHARE]
    assert not tried(slow, Lack.COMPLETENESS)
    assert not tried(slow, Lack.SMALL_VARIANCES)
