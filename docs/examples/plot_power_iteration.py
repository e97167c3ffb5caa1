"""
Power iteration and the eigengap
================================

Power iteration multiplies a vector by the matrix again and again. The part along the first eigenvector grows most, and
in the end it is all that is left. How fast that goes is decided by the *gap* between the first two eigenvalues. When
they are equal, or when the start is orthogonal to the first eigenvector, it ends elsewhere: three warnings to see.

See also :doc:`/theory/power` and :doc:`/theory/power_failures`.
"""

import matplotlib.pyplot as plt
import numpy as np

import ritz

rng = np.random.default_rng(0)
Q = np.linalg.qr(rng.standard_normal((30, 30)))[0]  # the eigenvectors


def matrix(*first):
    """Symmetric, with these eigenvalues first and small ones after them."""
    return (Q * [*first, *np.linspace(0.2, 0.01, 30 - len(first))]) @ Q.T


# %%
# Three gaps
# ----------
# Theory says that each step multiplies the residual :math:`\|Av - \lambda v\|` by :math:`\lambda_2/\lambda_1`. The
# eigenvalue is twice as good: its error is multiplied by the square. Points are measured, dashed lines are theory.


def rate(found, last=10):
    """The factor of the residual in each of the last steps."""
    residuals = [step.residual for step in found.history]
    return float((residuals[-1] / residuals[-1 - last]) ** (1 / last))


ratios, rates, steps = (0.5, 0.9, 0.97), [], []
figure, panels = plt.subplots(1, 3, figsize=(12, 4.6), layout="constrained")
for ax, ratio in zip(panels, ratios, strict=True):
    found = ritz.eigen(matrix(1, ratio), 1, "power")
    ritz.plot.convergence(found, matrix(1, ratio), ax=ax)
    rates.append(rate(found))
    steps.append(len(found.history))
print("steps:", ", ".join(f"{count} for λ₂/λ₁ = {ratio}" for ratio, count in zip(ratios, steps, strict=True)))
plt.show()

# %%
# A tie
# -----
# With :math:`\lambda_1 = \lambda_2` every vector of a plane is an eigenvector. Each start finds another one, and soon:
# the part outside of the plane falls by :math:`\lambda_3/\lambda_1`. The plane is determined, the axis is not. The
# certificate says so.

tied = matrix(1, 1)
ends = [ritz.eigen(tied, 1, ritz.solvers.Power(start=rng.standard_normal(30))) for _ in range(2)]
angle_between_ends = float(np.degrees(ritz.compare(*ends)[0]))
outside_of_plane = max(float(np.linalg.norm(end.vectors - Q[:, :2] @ (Q[:, :2].T @ end.vectors))) for end in ends)
print(f"two starts end {angle_between_ends:.0f}° apart, both within {outside_of_plane:.0e} of the plane")
print(ends[0].certificate)

# %%
# A start that is orthogonal to the first eigenvector
# ---------------------------------------------------
# Such a start has no part that could grow. The iteration finds the *second* eigenvector, and its residual is as small
# as asked. Only the certificate warns that a larger eigenvalue may have been missed. If we go on, here with the
# algorithm itself, rounding errors bring in a trace of the first eigenvector. It grows, and takes over.

A = matrix(1, 0.9)
start = rng.standard_normal(30)
start -= Q[:, 0] * (Q[:, 0] @ start)
stopped = ritz.eigen(A, 1, ritz.solvers.Power(start=start))
v, values = start, []
for _ in range(600):
    Av = A @ v
    values.append(float(v @ Av / (v @ v)))
    v = Av / np.linalg.norm(Av)
took_over = int(np.argmax(np.array(values) > 0.95)) + 1
print(f"stopped after {len(stopped.history)} steps at {stopped.values[0]:.4f}")
print("the certificate:", stopped.certificate.missed)
print(f"going on: above 0.95 from step {took_over}, in the end {values[-1]:.6f}")

figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
ritz.plot.convergence(ends[0], tied, ax=panels[0])
ritz.plot.convergence(stopped, A, ax=panels[1])
panels[2].plot(np.arange(1, len(values) + 1), values)
panels[2].plot(len(stopped.history), stopped.values[0], "o", color="C1", label="stopped here, with a small residual")
for value in (1.0, 0.9):
    panels[2].axhline(value, color="0.6", ls="--", lw=1)
panels[2].set(xlabel="iteration", ylabel="eigenvalue found; there are 1 and 0.9", title="An orthogonal start, going on")
panels[2].legend(loc="lower right")
plt.show()

# %%
# Orthogonal iteration
# --------------------
# Several vectors at once need no gap between them. The first three eigenvalues are 1, 0.95 and 0.9, the fourth is 0.2.
# Power iteration passes two small gaps, one after the other. For orthogonal iteration with three columns only the gap
# after the third one counts, :math:`\lambda_4/\lambda_3`.

A, three = matrix(1, 0.95, 0.9), ritz.solvers.Orthogonal(oversample=0)
by_power, by_block = ritz.eigen(A, 3, "power"), ritz.eigen(A, 3, three)
steps_by_power, steps_by_block, rate_of_block = len(by_power.history), len(by_block.history), rate(by_block, 5)
print(f"{steps_by_power} products with a vector, {steps_by_block} with three vectors")
figure, panels = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
ritz.plot.convergence(by_power, A, ax=panels[0])
ritz.plot.convergence(by_block, A, ax=panels[1])
plt.show()
