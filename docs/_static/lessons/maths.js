// The mathematics that the lessons share: random numbers with a seed, moments, eigenvalues, digits.
// Plain scripts, no modules: browsers do not load modules from file://.
"use strict";

/** @typedef {number[]} Vector */
/** @typedef {number[][]} Matrix  rows of numbers */
/** @typedef {{values: Vector, vectors: Matrix}} Eigen  values descending; vectors[i] belongs to values[i] */

window.lessonTools = window.lessonTools || {};

(function (tools) {
  /**
   * Uniform numbers in [0, 1) that are the same for the same seed (mulberry32).
   * @param {number} seed
   * @returns {() => number}
   */
  function uniform(seed) {
    let a = seed >>> 0;
    return () => {
      a = (a + 0x6d2b79f5) >>> 0;
      let t = Math.imul(a ^ (a >>> 15), a | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /**
   * Standard normal numbers (Box and Muller), the same for the same seed.
   * @param {number} seed
   * @returns {() => number}
   */
  function normal(seed) {
    const draw = uniform(seed);
    let spare = NaN;
    return () => {
      if (!Number.isNaN(spare)) {
        const kept = spare;
        spare = NaN;
        return kept;
      }
      // 1 − u is never 0, so the logarithm is finite.
      const radius = Math.sqrt(-2 * Math.log(1 - draw()));
      const turn = 2 * Math.PI * draw();
      spare = radius * Math.sin(turn);
      return radius * Math.cos(turn);
    };
  }

  /** @param {Vector} a @param {Vector} b @returns {number} aᵀb */
  function dot(a, b) {
    let sum = 0;
    for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
    return sum;
  }

  /** @param {Matrix} A @param {Vector} v @returns {Vector} A v */
  const times = (A, v) => A.map((row) => dot(row, v));

  /** @param {Vector} v @returns {Vector} v/‖v‖ */
  function unit(v) {
    const norm = Math.sqrt(dot(v, v));
    return v.map((x) => x / norm);
  }

  /** @param {Matrix} rows @returns {Vector} the mean of every column */
  function mean(rows) {
    return rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
  }

  /**
   * C = (1/(n − ddof)) Σ (x − μ)(x − μ)ᵀ, after the mean is taken off.
   * @param {Matrix} rows
   * @param {number} ddof
   * @returns {Matrix}
   */
  function covariance(rows, ddof) {
    const d = rows[0].length;
    const mu = mean(rows);
    const C = Array.from({ length: d }, () => new Array(d).fill(0));
    for (const row of rows) {
      const z = row.map((x, j) => x - mu[j]);
      for (let i = 0; i < d; i++) for (let j = 0; j <= i; j++) C[i][j] += z[i] * z[j];
    }
    for (let i = 0; i < d; i++) for (let j = 0; j <= i; j++) C[j][i] = C[i][j] /= rows.length - ddof;
    return C;
  }

  /**
   * tan φ of the rotation that makes the entry (p, q) zero; the smaller of the two, which is the stable one.
   * @param {number} app @param {number} aqq @param {number} apq
   */
  function tangent(app, aqq, apq) {
    const theta = (aqq - app) / (2 * apq);
    return (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  }

  /**
   * Rotate the rows p and q of M: (p, q) ← (c p − s q, s p + c q).
   * @param {Matrix} M @param {number} p @param {number} q @param {number} c @param {number} s
   */
  function rotate(M, p, q, c, s) {
    const P = M[p];
    const Q = M[q];
    for (let j = 0; j < P.length; j++) {
      const x = P[j];
      const y = Q[j];
      P[j] = c * x - s * y;
      Q[j] = s * x + c * y;
    }
  }

  /**
   * All eigenpairs of a symmetric matrix by Jacobi's rotations: sweep over the entries above the diagonal and
   * rotate each to zero, until what is left is below rounding. Each sweep squares the error in the end.
   * @param {Matrix} A
   * @returns {Eigen}
   */
  function jacobi(A) {
    const d = A.length;
    const M = A.map((row) => row.slice());
    const V = A.map((_, i) => A.map((__, j) => (i === j ? 1 : 0)));
    const size = Math.sqrt(M.reduce((sum, row) => sum + dot(row, row), 0));
    for (let sweep = 0; sweep < 60; sweep++) {
      let left = 0;
      for (let p = 0; p < d; p++) {
        for (let q = p + 1; q < d; q++) {
          left = Math.max(left, Math.abs(M[p][q]));
          // Below this the rotation would change nothing, and its tangent may not be finite.
          if (Math.abs(M[p][q]) <= 1e-18 * size) continue;
          const t = tangent(M[p][p], M[q][q], M[p][q]);
          const c = 1 / Math.sqrt(t * t + 1);
          const s = t * c;
          rotate(M, p, q, c, s);
          for (const row of M) {
            const x = row[p];
            row[p] = c * x - s * row[q];
            row[q] = s * x + c * row[q];
          }
          M[p][q] = M[q][p] = 0;
          rotate(V, p, q, c, s);
        }
      }
      if (left <= 1e-15 * size) break;
    }
    const order = M.map((row, i) => i).sort((i, j) => M[j][j] - M[i][i]);
    return { values: order.map((i) => M[i][i]), vectors: order.map((i) => V[i]) };
  }

  /**
   * The angle between two lines, in degrees from 0 to 90.
   * @param {Vector} a of any length
   * @param {Vector} b
   */
  function lineAngle(a, b) {
    const u = unit(a);
    const v = unit(b);
    const c = dot(u, v);
    // acos loses half of the digits of a small angle; the distance from the projection does not.
    const s = Math.sqrt(u.reduce((sum, x, i) => sum + (x - c * v[i]) ** 2, 0));
    return (Math.atan2(s, Math.abs(c)) * 180) / Math.PI;
  }

  /** @param {number} degrees @returns {Vector} the unit vector of the plane in this direction */
  const circle = (degrees) => [Math.cos, Math.sin].map((f) => f((degrees * Math.PI) / 180));

  /** @param {Vector} v of the plane @returns {number} the direction of its line, degrees in (−90, 90] */
  function direction(v) {
    const angle = (Math.atan2(v[1], v[0]) * 180) / Math.PI;
    return angle > 90 ? angle - 180 : angle <= -90 ? angle + 180 : angle;
  }

  /** @param {Vector} values @returns {number} */
  function median(values) {
    const sorted = values.slice().sort((a, b) => a - b);
    const [low, high] = [Math.floor, Math.ceil].map((rounded) => sorted[rounded((sorted.length - 1) / 2)]);
    return (low + high) / 2;
  }

  /**
   * A number for people: a real minus sign, and always the same number of digits.
   * @param {number} x
   * @param {number} [digits]
   */
  function shown(x, digits = 2) {
    if (Number.isNaN(x)) return "not defined";
    if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
    const text = x.toFixed(digits);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  }

  /** @param {number} power @returns {string} 10 with an exponent, as people write it */
  function tenTo(power) {
    const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
    return "10" + String(power).replace("-", "⁻").replace(/\d/g, (digit) => digits[Number(digit)]);
  }

  // One hidden quantity t and two sets of noise of mean square 1. All three are exactly uncorrelated with each other,
  // so that twelve points show what is otherwise true on average alone.
  const HIDDEN = [-4, -3, -2.5, -1.5, -1, -0.5, 0.5, 1, 1.5, 2.5, 3, 4];
  const NOISE_X = [0.5, -0.5, 1, -1, -1.5, 0.5, 2, -0.5, 0, -1.5, 0.5, 0.5];
  const NOISE_Y = [0, -1, -1.5, 0.5, 1.5, 1, 1, 0.5, -1, -1, 1, -1];
  const SLOPE = 0.8;

  /**
   * Two measurements of one hidden quantity: x = t + σₓa, y = 0.8 t + σ_y b.
   * @param {number} sx @param {number} sy
   * @param {number} [seed] draws the noise anew; without it the noise is the one above
   * @returns {Matrix}
   */
  function measurements(sx, sy, seed) {
    const draw = seed ? normal(seed) : null;
    return HIDDEN.map((t, i) => {
      const a = draw ? draw() : NOISE_X[i];
      const b = draw ? draw() : NOISE_Y[i];
      return [t + sx * a, SLOPE * t + sy * b];
    });
  }

  Object.assign(tools, {
    normal, dot, times, unit, mean, covariance, jacobi, lineAngle, circle, direction, median, shown, tenTo, measurements, SLOPE,
  });
})(window.lessonTools);
