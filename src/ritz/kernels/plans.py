"""Plans for kernel PCA: LAPACK on the n×n matrix, products with tiles kept or recomputed, or few of its columns."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

from ritz.fitting.costs import lapack, rates
from ritz.fitting.planning import Plan
from ritz.linalg.dense import SKINNY
from ritz.operators.pivoted_cholesky import ROOM
from ritz.runtime.memory import format_bytes, too_small
from ritz.runtime.threads import pinned
from ritz.solvers.base import block_width, capacity, expected_steps
from ritz.solvers.krylov import SPARE
from ritz.solvers.single import worth_single_vectors

SMALL = 500  # rows up to which the whole spectrum costs no noticeable time
NARROW_ROWS = 1500  # from where on float32 pays
EVALUATED = {"float64": 1.1e9, "float32": 2.2e9}  # values of a kernel per second, beside the inner product
THIN = 0.15  # of the rate of products that inner products of short rows reach
PATIENCE = 20.0  # seconds that an exact answer may take before few columns of the matrix have to do
GUESS = 64  # components that a share of the variance is expected to take
LANDMARKS = 1000  # of them, where nobody says how many
STEPS = 8  # products for every component where vectors go one by one
FEW = 0.25  # of the rows that landmarks may be: more would cost as much as all


@dataclass(frozen=True)
class Task:
    """What the cost of a fit depends on."""

    n: int  # rows
    d: int  # columns
    k: int  # components
    limit: int  # bytes of working memory
    positive: bool = True  # whether the kernel is so by its formula, so that landmarks may stand for rows
    narrow: bool = False  # whether float32 is accurate enough to find the components
    share: bool = False  # whether k is only a guess of what a share of the variance will take
    tol: float = 1e-6


def plans_for(task: Task, solver: str = "auto", n_landmarks: int | None = None) -> list[Plan]:
    """Plans to try in order: what was chosen and, where it is in float32, the same in float64."""
    if solver == "auto":
        chosen = _chosen(task)
    elif solver == "dense":
        chosen = replace(dense(task), why="dense was asked for")
    elif solver == "krylov" and task.k >= task.n:
        chosen = dense(task)
    elif solver == "lowrank":
        chosen = low_rank(task, landmarks(task, n_landmarks), "landmarks were asked for")
    else:
        chosen = Plan.cheapest(_iterative(task), task.limit)
        tiles = _tiles(task.n, chosen.precision, chosen.dense)
        chosen = replace(chosen, solver=solver, why=f"{solver} was asked for; the kernel matrix is {tiles}")
    if chosen.memory > task.limit:
        needed = f"{chosen.solver} needs {format_bytes(chosen.memory)} of working memory"
        raise too_small(task.limit, needed, "raise it, or ask for fewer components or for n_landmarks")
    if chosen.precision == "float64" or chosen.solver == "lowrank":
        return [chosen]
    wide = krylov(task, "float64", chosen.dense and 2 * chosen.memory <= task.limit)
    return [chosen, replace(wide, solver=chosen.solver, why=f"{chosen.why}; float32 values were not enough")]


def _chosen(task: Task) -> Plan:
    n, limit = task.n, task.limit
    whole = dense(replace(task, k=n) if task.share else task)
    if not task.share and worth_single_vectors(n, task.k, task.tol) and (few := single(task)).memory <= limit:
        return few
    if n <= SMALL and whole.memory <= limit:
        return replace(whole, why=f"{n} rows are few, so the whole {n}×{n} matrix costs nothing")
    if task.share and whole.seconds <= PATIENCE and whole.memory <= limit:
        why = "a share of the variance is asked for, and the whole spectrum tells how many components hold it"
        return replace(whole, why=why)
    best = Plan.cheapest([*_iterative(task), whole], limit)
    affordable = best.seconds <= PATIENCE and best.memory <= limit
    if affordable or task.share or not task.positive:
        return best
    p = landmarks(task)
    why = f"an exact answer would take {best.seconds:.0f} s by the planner's table: {p} landmarks stand for {n} rows"
    few = low_rank(task, p, why)
    return few if task.k < p <= FEW * n and few.memory <= max(limit, best.memory) else best


def _iterative(task: Task) -> list[Plan]:
    """Products with tiles that are kept, and with tiles that are recomputed."""
    precision = "float32" if task.narrow and task.n >= NARROW_ROWS else "float64"
    return [krylov(task, precision, kept) for kept in (True, False)]


def krylov(task: Task, precision: str, kept: bool) -> Plan:
    """Block Krylov, with products in this precision and a pass in float64 that finishes what float32 found."""
    n, d, k = task.n, task.d, task.k
    width, steps = block_width(k), expected_steps(k)
    values, wide = _evaluation(n, d, precision), _evaluation(n, d, "float64")
    product = 2.0 * n * n * width / rates().thin
    finish = wide + 2.0 * n * n * (k + SPARE) / rates().product if precision == "float32" else 0.0
    size = min(n, steps * width)
    own = (3.0 * n * size**2 + 10.0 * size**3) / (2 * rates().reduction)
    seconds = (values if kept else steps * values) + steps * product + finish + own
    memory = 16 * n * (capacity(n, k, width) + 2 * (k + SPARE)) + 24 * n * d + (_half(n, precision) if kept else 0)
    memory += 8 * n * (8 * width + (k + SPARE) * (pinned.budget() + 5))  # products, and those of strips that wait
    why = (
        f"{k} of {n} components: about {steps} products with the kernel matrix, {_tiles(n, precision, kept)}, "
        "cost less than its whole spectrum"
    )
    operations = 1.0 * n * n * d * (1 if kept else steps) + 2.0 * n * n * width * steps
    passes = steps + (precision == "float32")
    return Plan("krylov", "kernel", passes, operations, int(memory), why, kept, seconds, precision, width)


def single(task: Task) -> Plan:
    """A few eigenpairs of a matrix that stays in cache, by single vectors: its block has one column."""
    n, d, k = task.n, task.d, task.k
    steps = STEPS * (k + 1)
    seconds = _evaluation(n, d, "float64") + 2.0 * n * n * steps / rates().walk
    memory = 8 * n * (4 * n + steps) + 24 * n * d  # the matrix, what it is made from, and a copy for the proof
    why = (
        f"{k} of {n} components take a few products of the {n}×{n} matrix with single vectors; "
        "LAPACK follows if these do not settle it"
    )
    operations = 1.0 * n * n * d + 2.0 * n * n * steps
    return Plan("dense", "kernel", 1, operations, int(memory), why, True, seconds, columns=1)


def _half(n: int, precision: str) -> int:
    """Bytes of the tiles on and above the diagonal."""
    return (2 if precision == "float32" else 4) * n * n


def _tiles(n: int, precision: str, kept: bool) -> str:
    return f"kept in {format_bytes(_half(n, precision))} of tiles" if kept else "recomputed for every product"


def dense(task: Task) -> Plan:
    """LAPACK on the matrix itself."""
    n, d, k = task.n, task.d, task.k
    eig = lapack(n, k)
    seconds, operations = _evaluation(n, d, "float64") + eig.seconds, 1.0 * n * n * d + eig.operations
    # The matrix and LAPACK's copy, its work space where all vectors are wanted, and these with their products.
    memory = 16 * n * n + (24 * n * n if 4 * k >= n else 0) + 40 * n * k + 24 * n * d
    why = f"{k} of {n} components are so many that the whole {n}×{n} matrix is decomposed"
    return Plan("dense", "kernel", 1, operations, int(memory), why, True, seconds)


def low_rank(task: Task, p: int, why: str) -> Plan:
    """p columns of the matrix, and their inner products."""
    n, d = task.n, task.d
    operations = 2.0 * n * p * d + 3.0 * n * p * p
    seconds = operations / (0.5 * rates().product) + n * p / EVALUATED["float64"]
    return Plan("lowrank", "kernel", 0, operations, _low_rank_memory(task, p), why, False, seconds)


def _low_rank_memory(task: Task, p: int) -> int:
    n = task.n
    return 8 * n * (p if p <= ROOM else 2 * p) + 32 * p * p + 24 * n * task.d + 8 * n * (8 * (task.k + SPARE) + SKINNY)


def landmarks(task: Task, asked: int | None = None) -> int:
    """How many columns stand for all: as many as asked for, or a good number, within the memory allowed."""
    wanted = max(LANDMARKS, 8 * task.k) if asked is None else asked
    room = bisect_right(range(1, task.n + 1), task.limit, key=lambda p: _low_rank_memory(task, p))
    return min(task.n, wanted, max(task.k + 1, room))


def comparison(task: Task) -> float:
    """Seconds for one product of the components with the whole matrix in float64."""
    return _evaluation(task.n, task.d, "float64") + 2.0 * task.n**2 * (task.k + SPARE) / rates().product


def _evaluation(n: int, d: int, precision: str) -> float:
    """Seconds for all values on and above the diagonal."""
    product = rates().narrow if precision == "float32" else rates().product
    return n * n / 2 * (2 * d / (product * (THIN if d < SKINNY else 1.0)) + 1 / EVALUATED[precision])
