"""Plans for kernel PCA: the n×n matrix whole, in tiles that are kept or computed anew, or by few of its columns."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from ritz.fitting.costs import lapack
from ritz.fitting.planning import Plan
from ritz.fitting.rates import rates
from ritz.linalg.products import SKINNY
from ritz.operators.pivoted_cholesky import ROOM
from ritz.runtime.memory import format_bytes
from ritz.runtime.threads import pinned
from ritz.solvers.krylov import SPARE, block_width, capacity, expected_steps

DIRECT = ("gram", "covariance")
SMALL = 500  # rows up to which the whole spectrum costs no noticeable time
NARROW_ROWS = 1500  # from where on float32 pays
EVALUATED = {"float64": 1.1e9, "float32": 2.2e9}  # values of a kernel per second, beside the inner product
THIN = 0.15  # of the rate of products that inner products of short rows reach
PATIENCE = 20.0  # seconds that an exact answer may take before few columns of the matrix have to do
GUESS = 64  # components that a share of the variance is expected to take
LANDMARKS = 1000  # of them, where nobody says how many
FEW = 0.25  # of the rows that landmarks may be: more would cost as much as all


def plans_for(
    n: int, d: int, k: int, narrow: bool, positive: bool, solver: str, limit: int, wanted: int | None, share: bool
) -> list[Plan]:
    """Plans to try in order: what was chosen and, where it is in float32, the same in float64.

    Parameters
    ----------
    n, d, k : rows, columns and components
    narrow : whether float32 is accurate enough to find the components
    positive : whether the kernel is, so that landmarks may stand for rows
    wanted : landmarks that were asked for
    share : whether k is only a guess of what a share of the variance will take
    """
    if solver == "auto":
        chosen = _chosen(n, d, k, narrow, positive, limit, share)
    elif solver in DIRECT:
        chosen = replace(direct(n, d, k), why="dense was asked for")
    elif solver == "krylov" and k >= n:
        chosen = direct(n, d, k)
    elif solver == "lowrank":
        chosen = low_rank(n, d, k, landmarks(n, d, k, wanted, limit), "landmarks were asked for")
    else:
        chosen = Plan.cheapest(iterative(n, d, k, narrow), limit)
        how = _how(n, chosen.precision, chosen.dense)
        chosen = replace(chosen, solver=solver, why=f"{solver} was asked for; the kernel matrix is {how}")
    if chosen.memory > limit:
        raise ValueError(
            f"memory_limit of {format_bytes(limit)} is too small: {chosen.solver} needs {format_bytes(chosen.memory)} "
            f"of working memory; raise it, or ask for fewer components or for n_landmarks"
        )
    if chosen.precision == "float64" or chosen.solver == "lowrank":
        return [chosen]
    wide = _krylov(n, d, k, "float64", chosen.dense and 2 * chosen.memory <= limit)
    return [chosen, replace(wide, solver=chosen.solver, why=f"{chosen.why}; float32 values were not enough")]


def _chosen(n: int, d: int, k: int, narrow: bool, positive: bool, limit: int, share: bool) -> Plan:
    whole = direct(n, d, n if share else k)
    if n <= SMALL and whole.memory <= limit:
        return replace(whole, why=f"{n} rows are few, so the whole {n}×{n} matrix costs nothing")
    if share and whole.seconds <= PATIENCE and whole.memory <= limit:
        return replace(
            whole, why="a share of the variance is asked for, and the whole spectrum tells how many that are"
        )
    options = [*iterative(n, d, k, narrow), whole]
    best = Plan.cheapest(options, limit)
    if positive and (best.seconds > PATIENCE or best.memory > limit):
        p = landmarks(n, d, k, None, limit)
        why = (
            f"an exact answer would take {best.seconds:.0f} s by the planner's table: {p} landmarks stand for {n} rows"
        )
        few = low_rank(n, d, k, p, why)
        fewer = k < p <= FEW * n and few.memory <= max(limit, best.memory)
        return few if fewer and not share else best
    return best


def iterative(n: int, d: int, k: int, narrow: bool) -> list[Plan]:
    """Products with tiles that are kept, and with tiles that are computed anew."""
    precision = "float32" if narrow and n >= NARROW_ROWS else "float64"
    return [_krylov(n, d, k, precision, kept) for kept in (True, False)]


def _krylov(n: int, d: int, k: int, precision: str, kept: bool) -> Plan:
    width, steps = block_width(k), expected_steps(k)
    values, wide = _evaluation(n, d, precision), _evaluation(n, d, "float64")
    product = 2.0 * n * n * width / rates().thin
    finish = wide + 2.0 * n * n * (k + SPARE) / rates().product if precision == "float32" else 0.0
    size = min(n, steps * width)
    own = (3.0 * n * size**2 + 10.0 * size**3) / (2 * rates().reduction)
    seconds = (values if kept else steps * values) + steps * product + finish + own
    memory = 16 * n * (capacity(n, k, width) + 2 * (k + SPARE)) + 24 * n * d + (_half(n, precision) if kept else 0)
    memory += 8 * n * (8 * width + (k + SPARE) * (pinned.budget() + 5))  # products, and those of strips that wait
    how = _how(n, precision, kept)
    why = f"{k} of {n} components: some {steps} products with the kernel matrix, {how}, cost less than all its spectrum"
    operations = 1.0 * n * n * d * (1 if kept else steps) + 2.0 * n * n * width * steps
    passes = steps + (precision == "float32")
    return Plan("krylov", "kernel", passes, operations, int(memory), why, kept, seconds, precision, width)


def _half(n: int, precision: str) -> int:
    """Bytes of the tiles on and above the diagonal."""
    return (2 if precision == "float32" else 4) * n * n


def _how(n: int, precision: str, kept: bool) -> str:
    return f"kept in {format_bytes(_half(n, precision))} of tiles" if kept else "computed anew for every product"


def needed(n: int, d: int, k: int, plan: Plan) -> int:
    """Bytes that an iteration takes for so many components, however many its plan was made for."""
    return _krylov(n, d, k, plan.precision, plan.dense).memory


def direct(n: int, d: int, k: int) -> Plan:
    """LAPACK on the matrix itself."""
    eig = lapack(n, k)
    seconds, operations = _evaluation(n, d, "float64") + eig.seconds, 1.0 * n * n * d + eig.operations
    # The matrix and LAPACK's copy, its work space where all vectors are wanted, and these with their products.
    memory = 16 * n * n + (24 * n * n if 4 * k >= n else 0) + 40 * n * k + 24 * n * d
    why = f"{k} of {n} components are so many that the whole {n}×{n} matrix is decomposed"
    return Plan("dense", "kernel", 1, operations, int(memory), why, True, seconds)


def low_rank(n: int, d: int, k: int, p: int, why: str) -> Plan:
    """Few columns of the matrix, and their inner products."""
    operations = 2.0 * n * p * d + 3.0 * n * p * p
    seconds = operations / (0.5 * rates().product) + n * p / EVALUATED["float64"]
    memory = 8 * n * (p if p <= ROOM else 2 * p) + 32 * p * p + 24 * n * d + 8 * n * (8 * (k + SPARE) + SKINNY)
    return Plan("lowrank", "kernel", 0, operations, int(memory), why, False, seconds)


def landmarks(n: int, d: int, k: int, asked: int | None, limit: int) -> int:
    """How many columns stand for all: as many as asked for, or a good number, within the memory allowed."""
    wanted = max(LANDMARKS, 8 * k) if asked is None else asked
    room = bisect_right(range(1, n + 1), limit, key=lambda p: low_rank(n, d, k, p, "").memory)
    return min(n, wanted, max(k + 1, room))


def comparison(n: int, d: int, k: int) -> float:
    """Seconds for one product with the whole matrix in float64."""
    return _evaluation(n, d, "float64") + 2.0 * n * n * (k + SPARE) / rates().product


def _evaluation(n: int, d: int, precision: str) -> float:
    """Seconds for all values on and above the diagonal."""
    product = rates().narrow if precision == "float32" else rates().product
    return n * n / 2 * (2 * d / (product * (THIN if d < SKINNY else 1.0)) + 1 / EVALUATED[precision])
