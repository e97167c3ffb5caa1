"""Diagnostics in the words of a warning: what was found, and what the user can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ritz.errors import AccuracyWarning
from ritz.fitting.rank import INDEPENDENT
from ritz.runtime.wording import at_most, plural
from ritz.spectrum.certificate import Diagnostic

if TYPE_CHECKING:  # a fit of PCA should not import kernels and compressed sensing
    from ritz.fitting.result import Decomposition
    from ritz.kernels import Kernel
    from ritz.kernels.decompose import KernelFit
    from ritz.linalg.dense import Array
    from ritz.sensing.certificate import RecoveryCertificate
    from ritz.spectrum.certificate import Certificate

FLAT = 2.0  # times the mean eigenvalue that the largest one of a kernel with a bandwidth must exceed to mean anything
NEARLY = 1e-3  # relative residuals that speak for the basis
ALIKE = (
    "some basis vectors have the same measurements, or none (coherence 1 between columns): signals that contain them "
    "cannot be told from others; take more measurements, or measurements that differ more from the basis"
)
SAME = "check that basis, measurement and random_state are those that were measured with"

Words = str | tuple[str, ...]  # the problem; or with it the advice, and the problem in plain words


def _warning(diagnostic: Diagnostic, words: Words) -> AccuracyWarning:
    problem, advice, plain = (*((words,) if isinstance(words, str) else words), "", "")[:3]
    warning = AccuracyWarning(problem, advice, diagnostic.code, plain)
    warning.diagnostic = diagnostic
    return warning


def of_pca(fitted: Decomposition, asked: Any) -> list[AccuracyWarning]:
    """What the user of PCA should know and can act on; `asked` is n_components."""
    certificate, subspace = fitted.certificate, fitted.subspace
    d, k = subspace.axes.shape
    found: list[AccuracyWarning] = []
    if fitted.choice is not None and not fitted.choice.above:
        found.append(_nothing_above_noise(d, scaled=subspace.scale is not None))
    # All components of wide data end in one without variance, because of the mean: no news to whoever asked for all.
    expected = asked is None and subspace.n_rows is not None and subspace.n_rows <= d and certificate.rank == k - 1
    words: dict[str, Words] = {
        "not_converged": _not_converged(certificate, fitted.spectrum.note),
        "may_have_missed": (
            "a component with larger variance may have been missed",
            "svd_solver='covariance' (or 'gram' for few rows) lets the certificate exclude it",
        ),
        "unresolved": f"the sketch resolves {certificate.rank} of {k} components: variances beyond are at most "
        f"{at_most(certificate.missing)}, and their directions arbitrary",
        "rank_deficient": f"{_asked_for(k)}, but the data has rank {certificate.rank} to the resolution "
        f"of {fitted.plan.solver}: those beyond it have variance exactly 0 and arbitrary directions",
        "tie": _tie(certificate, "subspace"),
    }
    said = _worth_saying(certificate, leave_out="rank_deficient" if expected else "")
    return found + [_warning(diagnostic, words[diagnostic.code]) for diagnostic in said]


def of_left_vectors(deviations: Array) -> list[AccuracyWarning]:
    """What the user of left singular vectors should know; (k,) standard deviations of the components."""
    k, rank = len(deviations), int((deviations > 0).sum())
    if rank == k:
        return []
    zero = f"column {k} of U is 0" if rank == k - 1 else f"columns {rank + 1} to {k} of U are 0"
    problem = f"{zero}: the data has rank {rank}, and nothing determines left singular vectors beyond it"
    return [_warning(Diagnostic("rank_deficient", {"rank": rank}), (problem, f"use U[:, :{rank}]"))]


def of_kernel_pca(fitted: KernelFit, asked: Any, kernel: Kernel, gamma: Any, landmarks: Any) -> list[AccuracyWarning]:
    """The same for KernelPCA."""
    certificate, k = fitted.certificate, len(fitted.spectrum.values)
    if not certificate.rank and not certificate.may_have_missed:
        alike = "the rows are all alike to the kernel: no component has a variance above rounding"
        return [] if asked is None else [_warning(Diagnostic("all_alike"), alike)]
    why, near = fitted.spectrum.note, "" if fitted.n_rows is None else "a copy in the memory of the CPU with "
    if fitted.trace_error:
        why = (
            f"the landmarks leave out {at_most(fitted.trace_error)} of the trace: use more of them, "
            f"{near}eigen_solver='krylov' (exact to tol), or a larger tol"
        )
    words: dict[str, Words] = {
        "not_converged": _not_converged(certificate, why),
        "may_have_missed": f"a component with larger variance may have been missed; {near}eigen_solver='dense' would "
        "exclude it",
        "rank_deficient": f"{_asked_for(k)}, but only {certificate.rank} have a variance above rounding: "
        "those beyond have eigenvalue exactly 0 and arbitrary directions",
        "tie": _tie(certificate, "span"),
    }
    words["unresolved"] = words["rank_deficient"]
    unsure = "unresolved" if certificate.may_have_missed else ""
    said = _worth_saying(certificate, leave_out="rank_deficient unresolved tie" if asked is None else unsure)
    about_values = [_warning(diagnostic, words[diagnostic.code]) for diagnostic in said]
    accuracy = [one for one in about_values if one.code in ("not_converged", "may_have_missed")]
    return [*accuracy, *_about_kernel(fitted, kernel, gamma, landmarks), *about_values[len(accuracy) :]]


def _worth_saying(certificate: Certificate, leave_out: str) -> list[Diagnostic]:
    """A result that is not accurate may well have missed something, or seem tied; one warning is enough."""
    found = {one.code: one for one in certificate.diagnostics()}
    if "not_converged" in found:
        found.pop("may_have_missed", None)
        found.pop("tie", None)
    return [one for code, one in found.items() if code not in leave_out.split()]


def _not_converged(certificate: Certificate, note: str) -> Words:
    tol, reached = f"{certificate.tol:g}", certificate.accuracy() + (f"; {note}" if note else "")
    plain = f"did not converge to a tolerance of {tol}: {reached}"
    return f"did not converge to tol={tol}: {reached}", "see certificate_", plain


def _asked_for(k: int) -> str:
    return f"{k} components were asked for" if k > 1 else "1 component was asked for"


def _tie(certificate: Certificate, what: str) -> str:
    if not certificate.tie_at_k:
        return ""
    k = len(certificate.values)
    return f"{certificate.tie}, so the {what} of {k} {plural(k, 'component')} is not unique; {certificate.beside_tie}"


def _nothing_above_noise(d: int, scaled: bool) -> AccuracyWarning:
    scale = "" if scaled else ", or use scale=True if large columns hide what others share"
    problem = (
        f"no component stands above noise: {INDEPENDENT}, and here the rows have no more variance in one direction "
        "than with random signs; 1 is kept, whose direction may mean nothing"
    )
    number = f"ask for a number, such as n_components={min(2, d)}, to keep the largest variances all the same"
    warning = _warning(Diagnostic("nothing_above_noise"), (problem, f"{number}{scale}; see rank_choice_"))
    warning.code = "nothing_above_noise" if scaled else "nothing_above_noise_unscaled"
    return warning


def _about_kernel(fitted: KernelFit, kernel: Kernel, gamma: Any, landmarks: Any) -> Iterator[AccuracyWarning]:
    """What is no matter of accuracy: too few landmarks, an indefinite kernel, a bandwidth that tells no rows apart."""
    if isinstance(landmarks, float) and fitted.trace_error > landmarks:
        words = (
            f"n_landmarks={landmarks:g} allows landmarks to leave out that share of the trace; as many as memory_limit "
            f"allows leave out {at_most(fitted.trace_error)}"
        )
        yield _warning(Diagnostic("too_few_landmarks", {"trace_error": fitted.trace_error}), words)
    if fitted.indefinite:
        words = (
            f"the kernel matrix has eigenvalues below 0, the lowest {fitted.indefinite:.2g} times the largest in size: "
            "it is not an inner product, and the components kept are those of its positive part"
        )
        yield _warning(Diagnostic("indefinite", {"lowest": fitted.indefinite}), words)
    values, total = fitted.spectrum.values, sum(fitted.total) / 2
    n = len(fitted.spectrum.vectors) if fitted.n_rows is None else fitted.n_rows
    if fitted.embedding.kernel.local and n > 10 and 0 < float(values[0]) < FLAT * total / (n - 1):
        k, share = len(values), float(values.sum() / total)
        start = "" if isinstance(gamma, str) else ", gamma='median' is a good start"
        words = (
            f"the spectrum is nearly flat: {k} components explain only {share:.2g} of the variance, because "
            f"kernel={kernel!r} puts nearly all rows equally far from each other; a smaller gamma makes neighbours of "
            f"them{start}"
        )
        yield _warning(Diagnostic("flat", {"share": share}), words)


def of_recovery(certificate: RecoveryCertificate, max_iter: int | None) -> list[AccuracyWarning]:
    """The same for signals that were recovered from measurements."""
    words: dict[str, Callable[[RecoveryCertificate], Words]] = {
        "hopeless": _hopeless,
        "not_converged": lambda known: _short(known, max_iter),
        "silent": _silent,
        "poor": _poor,
        "doubtful": _doubtful,
        "alike": lambda known: ALIKE,
    }
    return [_warning(one, words[one.code](certificate)) for one in certificate.diagnostics()]


def _silent(known: RecoveryCertificate) -> str:
    return (
        f"nothing stands above noise={known.noise:g} in {known.silent.sum()} of {len(known.silent)} signals, which "
        "come back as zeros; noise is the standard deviation of a single measurement"
    )


def _poor(known: RecoveryCertificate) -> str:
    which = known.poor
    return (
        f"up to {known.residual[which].max():.0%} of the measurements of {which.sum()} of {len(which)} signals are "
        f"left unexplained by the coefficients found; raise sparsity, or {SAME}"
    )


def _hopeless(known: RecoveryCertificate) -> str:
    """Too few measurements; or enough for what counts, which still take too many coefficients to be explained."""
    m, b, which = known.n_measurements, len(known.converged), known.hopeless
    count, p = known.sparsity[which].max(), known.n_coefficients
    counted = f"{which.sum()} of {b} signals have up to {count} coefficients, of {p}, that count"
    advice = "measure more, choose a basis in which the signals are sparser, "
    if known.needed > m:
        return (
            f"{m} measurements are too few for the sparsity found: {counted}, and those need about {known.needed} "
            f"random measurements; {advice}or say how much noise there is"
        )
    many = f"the fit to {m} measurements takes so many coefficients that it would match any data: {counted}"
    return f"{many}; {advice}say how much noise there is, or {SAME}"


def _doubtful(known: RecoveryCertificate) -> str:
    """Explained, but perhaps by another signal."""
    which, m, least = known.doubtful, known.n_measurements, known.doubtless
    kind = "measurements with noise" if known.generic else "measurements of your own"
    kind = "signs or samples" if known.random and not known.generic else kind
    text = (
        f"the measurements of {which.sum()} of {len(which)} signals are explained by up to "
        f"{known.support_size[which].max()} of {known.n_coefficients} coefficients, but so few {kind}, {m}, may be "
        "explained as well by others, and what came back need not be the signal; "
    )
    enough = " for random signs" * (not known.generic)
    more = f"measure more (about {least} are enough{enough})" if m < least <= known.n_coefficients else ""
    other = "use measurement='gaussian', which has no such accidents" * (known.random and not known.generic)
    return text + (", or ".join(part for part in (more, other) if part) or "measure more")


def _short(known: RecoveryCertificate, max_iter: int | None) -> Words:
    """What was not reached, and what may help."""
    from ritz.sensing.phase_transition import LEAST_GAP

    short = known.short
    residual, gap, b = known.residual[short].max(), known.duality_gap[short].max(), len(known.converged)
    text = (
        f"did not converge to tol={known.tol:g} for {short.sum()} of {b} signals: residual at most "
        f"{at_most(residual)} of the measurements, duality gap at most {at_most(gap)} of the objective; "
    )
    if max_iter is not None and (known.solver == "basis-pursuit" or (known.iterations[short] >= max_iter).any()):
        return text + f"raise max_iter={max_iter}"
    if known.solver == "omp" and (2 * known.support_size[short] >= known.n_measurements - 1).any():
        return text + "matching pursuit uses at most half as many coefficients as measurements; try solver='fista'"
    if (gap > max(known.tol, LEAST_GAP) and known.solver != "omp") or residual < NEARLY:
        return text + "raise max_iter or tol", "see certificate_"
    noise = "" if known.noise else "say how much noise there is, or "
    return text + f"the basis cannot give these measurements; {noise}choose another one"
