"""The results for people: a table for each case, a summary, the table of docs/speed.md; and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks.cases import SYNTHETIC
from benchmarks.contenders import BARE, RITZ
from benchmarks.harness import MEASURED

ACCURATE = 1e-5  # the largest relative error of a variance that still counts as the right answer
BUSY = 0.5  # processes already running, beyond which times are in doubt
DEFAULT_PEER = "scikit-learn auto"

Record = dict[str, Any]


def measured(record: Record) -> dict[str, Record]:
    """The contenders that gave an answer."""
    return {name: found for name, found in record["contenders"].items() if found["status"] == MEASURED}


def accurate(found: Record) -> bool:
    return found["variance"] <= ACCURATE


def best_peer(record: Record) -> str | None:
    """The fastest contender that is right, other than Ritz and the product without an answer."""
    right = {name: f for name, f in measured(record).items() if accurate(f) and name not in (RITZ, BARE)}
    return min(right, key=lambda name: right[name]["seconds"], default=None)


def speedup(record: Record) -> float | None:
    """Time of the best accurate peer over that of Ritz."""
    found, peer = measured(record), best_peer(record)
    return found[peer]["seconds"] / found[RITZ]["seconds"] if peer and RITZ in found else None


def title(record: Record) -> str:
    name = "" if record["source"] == SYNTHETIC else f"{record['source']}, "
    return f"{name}{record['n']}×{record['d']} {record['dtype']}, k={record['k']}"


def describe(machine: Record) -> str:
    rates = ", ".join(f"{machine['gemm'][t] / 1e9:.0f} Gflop/s in {t}" for t in machine["gemm"])
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, {machine['date']}",
        f"Python {machine['python']}, {versions}; BLAS: {machine['blas']}",
        f"this machine multiplies at {rates} and reads {machine['bandwidth'] / 1e9:.1f} GB/s",
    ]
    if machine["load"] > BUSY:
        lines.append(f"WARNING: the load was {machine['load']:.1f} before we began; a busy machine gives no true times")
    return "\n".join(lines)


def table(record: Record, machine: Record) -> str:
    """Every contender on one case, then where Ritz stands."""
    head = f"{'':30}{'seconds':>9}{'× Ritz':>8}{'extra memory':>20}{'variance off':>14}{'subspace off':>14}  right"
    ritz = measured(record).get(RITZ)
    lines = [_row(name, found, ritz) for name, found in record["contenders"].items()]
    return "\n".join([title(record), head, *lines, *verdicts(record, machine)])


def _row(name: str, found: Record, ritz: Record | None) -> str:
    if found["status"] != MEASURED:
        return f"{name:30}  {found['status']}"
    times = f"{found['seconds'] / ritz['seconds']:.2f}" if ritz else "-"
    memory = f"{found['memory'] / 1e6:.1f} MB {found['memory'] / found['nbytes']:>6.0%}"
    mark = "✓" if accurate(found) else "no"
    return (
        f"{name:30}{found['seconds']:>9.3g}{times:>8}{memory:>20}{found['variance']:>14.0e}{found['subspace']:>14.0e}"
        f"  {mark:5}  {_remark(found['notes'])}".rstrip()
    )


def compare(title: str, contenders: Iterable[tuple[str, Record]], values: str = "variances") -> dict[str, Record]:
    """Print contenders as they are measured, times as multiples of the first one's where that is Ritz."""
    print(f"\n{title}\n{'':34}{'seconds':>9}{'× ritz':>9}{'MB beside':>11}{values:>13}{'subspace':>10}", flush=True)
    found: dict[str, Record] = {}
    for name, result in contenders:
        found[name] = result
        first = next(iter(found))
        ours = found[first].get("seconds") if first.startswith(RITZ) else None
        print(_line(name, result, ours), flush=True)
    return found


def _line(name: str, found: Record, ours: float | None) -> str:
    if found["status"] != MEASURED:
        return f"{name:34} {found['status']}"
    times = f"{found['seconds'] / ours:.2f}" if ours else "-"
    off = [f"{found[error]:.0e}" if error in found else "" for error in ("variance", "subspace")]
    figures = f"{name:34}{found['seconds']:9.2f}{times:>9}{found['memory'] / 1e6:11.0f}{off[0]:>13}{off[1]:>10}"
    return f"{figures}  {_remark(found.get('notes', {}))}".rstrip()


def _remark(notes: Record) -> str:
    words = [notes["solver"]] if "solver" in notes else []
    if notes.get("accelerated") is False:
        words.append("passed on to scikit-learn")
    if "satisfied" in notes:
        words += ["certified" if notes["satisfied"] else "NOT CERTIFIED", f"completeness {notes['completeness']}"]
    if "reached" in notes:
        words.append(f"reached {notes['reached']:.0e}")
    if "trace_error" in notes:
        words.append(f"trace error {notes['trace_error']:.2g}")
    return ", ".join(words)


def verdicts(record: Record, machine: Record) -> list[str]:
    """Ritz against the best accurate peer, and against what the machine allows."""
    ritz, peer = measured(record).get(RITZ), best_peer(record)
    if ritz is None:
        return []
    against = f"{speedup(record):.2f}× as fast as the best accurate peer ({peer})" if peer else "no accurate peer"
    seconds, what = limit(record, ritz, machine)
    return [
        f"Ritz: {against}",
        f"Ritz: {seconds / ritz['seconds']:.0%} of the {what} limit ({seconds:.3g} s)",
    ]


def limit(record: Record, ritz: Record, machine: Record) -> tuple[float, str]:
    """Seconds that the plan's operations or its passes over the data take at the full rate of this machine."""
    notes = ritz["notes"]
    products = (notes["operations"] or 0.0) / machine["gemm"][notes["precision"]]
    reading = notes["passes"] * ritz["nbytes"] / machine["bandwidth"]
    return max((products, "BLAS"), (reading, "bandwidth"))


def summary(results: Record) -> str:
    """The geometric mean over the cases, and how many of them hold no accurate peer."""
    ratios = [ratio for record in results["cases"] if (ratio := speedup(record))]
    if not ratios:
        return "no case has both Ritz and an accurate peer"
    return (
        f"Ritz: {geometric_mean(ratios):.2f}× as fast as the best accurate peer (geometric mean over {len(ratios)} of "
        f"{len(results['cases'])} cases; from {min(ratios):.2f} to {max(ratios):.2f})"
    )


def markdown(results: Record) -> str:
    """The table of docs/speed.md, a row for each case."""
    head = "| data | k | Ritz | best accurate peer | ratio | Ritz: variance off by | Ritz: extra memory | "
    head += f"{DEFAULT_PEER}: variance off by |"
    lines = [head, "|" + "---|" * 8]
    return "\n".join(lines + [_markdown_row(record) for record in results["cases"]])


def _markdown_row(record: Record) -> str:
    found, peer, ratio = measured(record), best_peer(record), speedup(record)
    data = title(record).rsplit(", k=", 1)[0]
    default = found.get(DEFAULT_PEER)
    off = _bold_if_wrong(default) if default else record["contenders"].get(DEFAULT_PEER, {}).get("status", "-")
    rival = f"{found[peer]['seconds']:.3g} s ({peer})" if peer else "none"
    if RITZ not in found:
        ours = [record["contenders"].get(RITZ, {}).get("status", "-"), rival, "-", "-", "-"]
    else:
        ritz = found[RITZ]
        memory = f"{ritz['memory'] / ritz['nbytes']:.0%}"
        ours = [f"{ritz['seconds']:.3g} s", rival, f"{ratio:.2f}×" if ratio else "-", _bold_if_wrong(ritz), memory]
    return "| " + " | ".join([data, str(record["k"]), *ours, off]) + " |"


def _bold_if_wrong(found: Record) -> str:
    return f"{found['variance']:.0e}" if accurate(found) else f"**{found['variance']:.0e}**"


def save(results: Record, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load(path: Path) -> Record:
    return json.loads(path.read_text(encoding="utf-8"))
