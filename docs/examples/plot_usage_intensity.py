"""
Usage intensity: the good line and a bad one
============================================

For 200 phones we know the hours that the screen is on, and the energy that is charged, both per day. Both measure one
hidden quantity: how intensively a phone is used. PCA finds it as the line that is nearest to all points.

See also :doc:`/theory/problem` and :doc:`/theory/least_squares`.
"""

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa

import ritz

X, intensity, names = ritz.datasets.usage_intensity(n=200)
n = len(X)
table = pa.table(dict(zip(names, X.T, strict=True)))  # the same, with names of columns
pca = ritz.PCA(2).fit(table)
Z = X - X.mean(axis=0)

# %%
# Four lines through the mean
# ---------------------------
# The error of a line is the mean squared distance of the points to what is kept of them. The first principal axis has
# the smallest one: (n − 1)/n times the second variance, since `explained_variance_` divides by n − 1.


def error_of(direction):
    """Mean squared distance of the points to a line through the mean."""
    unit = np.asarray(direction) / np.linalg.norm(direction)
    return float(np.mean(np.sum((Z - np.outer(Z @ unit, unit)) ** 2, axis=1)))


axis = pca.components_[0] * np.sign(pca.components_[0, 0])
slope = float(Z[:, 0] @ Z[:, 1] / (Z[:, 0] @ Z[:, 0]))  # least squares of the second column on the first
turned = np.radians(25) + np.arctan2(axis[1], axis[0])

error_axis = error_of(axis)
error_regression = error_of([1.0, slope])
error_worse = error_of([np.cos(turned), np.sin(turned)])
error_dropped = error_of([0.0, 1.0])  # without the hours
angle_of_axis, angle_of_regression = np.degrees(np.arctan2(axis[1], axis[0])), np.degrees(np.arctan(slope))

print(f"principal axis    {angle_of_axis:4.1f}°  error {error_axis:.3f}")
print(f"regression line   {angle_of_regression:4.1f}°  error {error_regression:.3f}")
print(f"turned by 25°     {np.degrees(turned):4.1f}°  error {error_worse:.3f}")
print(f"hours dropped     90.0°  error {error_dropped:.3f}")

# %%
# The regression line is another line: it makes *vertical* residuals small, for predicting the energy from the hours.
# PCA treats both columns alike, and makes *perpendicular* residuals small. To drop a coordinate is to take an axis of
# the plane as the line: the whole variance of the other coordinate is lost.

ritz.plot.line(table, worse=25)
plt.show()

# %%
# The line turns
# --------------
# As the line turns, the variance along it and the error change, and their sum does not. So the largest variance and the
# smallest error are at the same angle.

angles = np.radians(np.arange(0, 180, 1.0))
directions = np.column_stack([np.cos(angles), np.sin(angles)])
variances = np.mean((Z @ directions.T) ** 2, axis=0)
all_errors = np.array([error_of(direction) for direction in directions])
sums = variances + all_errors
best_degree = int(np.argmin(all_errors))
print(f"the sum stays between {sums.min():.6f} and {sums.max():.6f}; the best whole degree is {best_degree}°")

ritz.plot.angle(table)
plt.show()

# %%
# The score is the hidden quantity
# --------------------------------
# One number for each phone, its score on the first axis, follows the hidden intensity more closely than either column.
# Hours and watt-hours are different units. Scaled to the same variance, both columns count alike, and the score follows
# the intensity more closely still.

scaled = ritz.PCA(1, scale=True).fit_transform(X)[:, 0]
found = {"hours": X[:, 0], "energy": X[:, 1], "score": Z @ axis, "score, scaled": scaled}
correlations = {name: abs(float(np.corrcoef(values, intensity)[0, 1])) for name, values in found.items()}
for name, correlation in correlations.items():
    print(f"correlation of the intensity with {name}: {correlation:.3f}")

ax = ritz.plot.scores(pca, table, labels=intensity)
ax.set_title("Scores, coloured by the hidden intensity")
ax.figure.axes[-1].set_ylabel("hidden intensity")
plt.show()
