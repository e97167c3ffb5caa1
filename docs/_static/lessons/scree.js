// Lesson 5: the eigenvalues of a sample of pure noise fall like those of data. What stands above them is no noise.
"use strict";

window.lessonTools.lesson("scree", "Noise has a scree too", (lesson) => {
  const tools = window.lessonTools;
  const { shown } = tools;
  const REPEATS = 19; // a component above all of them: noise does so once in 20 times

  const chart = lesson.picture({
    label: "Eigenvalues of the data, the band of those of pure noise, and its theoretical edge.",
    aspect: 0.5,
  });
  const n = lesson.slider("n", { label: "Points n", min: 20, max: 400, step: 10, value: 200 });
  const d = lesson.slider("d", { label: "Columns d", min: 5, max: 50, step: 1, value: 40 });
  const planted = lesson.slider("planted", { label: "Planted components", min: 0, max: 5, step: 1, value: 3 });
  const stronger = { label: "Strength s: variance 1 + s", min: 0, max: 6, step: 0.05, value: 3, digits: 2 };
  const strength = lesson.slider("strength", stronger);
  let seed = 1;
  let rows = /** @type {Matrix} */ ([]);
  let values = /** @type {Vector} */ ([]);
  let band = { key: "", low: /** @type {Vector} */ ([]), high: /** @type {Vector} */ ([]) };

  /** @param {number} seed @returns {Matrix} n × d standard normal numbers */
  function noise(seed) {
    const draw = tools.normal(seed);
    return Array.from({ length: n.value }, () => Array.from({ length: d.value }, draw));
  }

  /** Orthonormal directions that mix all columns: cosines. @returns {Matrix} */
  function directions() {
    const [k, size] = [planted.value, d.value];
    const wave = (/** @type {number} */ turns) => Math.sqrt(2 / size) * Math.cos((Math.PI * turns) / size);
    return Array.from({ length: k }, (_, j) => Array.from({ length: size }, (__, i) => wave((i + 0.5) * (j + 1))));
  }

  /** Noise of variance 1, stretched to variance 1 + s in the planted directions. */
  function drawn() {
    const stretch = Math.sqrt(1 + strength.value) - 1;
    const planes = directions();
    return noise(1000 * seed).map((z) => {
      const more = tools.times(planes, z).map((y) => stretch * y);
      return z.map((x, i) => x + more.reduce((sum, y, j) => sum + y * planes[j][i], 0));
    });
  }

  /** @param {Matrix} rows @returns {Vector} eigenvalues of the covariance, divided by n − 1 */
  const spectrum = (rows) => tools.jacobi(tools.covariance(rows, 1)).values;

  /** Lowest and highest eigenvalue at every place in repeats of pure noise; kept while n and d stay. */
  function noiseBand() {
    const key = `${n.value} ${d.value} ${seed}`;
    if (band.key === key) return;
    const all = Array.from({ length: REPEATS }, (_, i) => spectrum(noise(1000 * seed + 1 + i)));
    const low = all[0].map((_, j) => Math.min(...all.map((one) => one[j])));
    const high = all[0].map((_, j) => Math.max(...all.map((one) => one[j])));
    band = { key, low, high };
  }

  const gamma = () => d.value / (n.value - 1);
  const edge = () => (1 + Math.sqrt(gamma())) ** 2;

  /** Where a planted component is expected: known once s is above √γ, at the edge below that. */
  const expected = () => {
    const s = strength.value;
    return s > Math.sqrt(gamma()) ? (1 + s) * (1 + gamma() / s) : edge();
  };

  /** How many eigenvalues are above a limit. @param {number} limit */
  const above = (limit) => values.filter((value) => value > limit).length;
  /** More than any eigenvalue of the repeats, as the largest of each is its first. */
  const standing = () => above(band.high[0]);

  function drawChart() {
    const places = values.map((_, j) => j + 1);
    const steps = places.map((x) => (x <= planted.value ? 1 + strength.value : 1));
    const top = Math.max(values[0], band.high[0], steps[0]);
    chart.frame([0.5, d.value + 0.5], [0, Math.max(1.1 * top, 1.45 * edge())]);
    chart.axes({ x: "component", y: "eigenvalue" });
    const upper = places.map((x, j) => [x, band.high[j]]);
    const lower = places.map((x, j) => [x, band.low[j]]);
    chart.path([...upper, ...lower.reverse()], "l-fill-b", true);
    chart.path(upper, "l-b l-thin");
    chart.path(lower, "l-b l-thin");
    chart.lines([[0.5, edge(), d.value + 0.5, edge()]], "l-b l-dash l-thin");
    chart.lines(places.map((x, j) => [x - 0.5, steps[j], x + 0.5, steps[j]]), "l-c");
    const scree = places.map((x, j) => [x, values[j]]);
    const k = standing();
    chart.path(scree, "l-a l-thin");
    chart.dots(scree.slice(k), "l-point", 0.36);
    chart.dots(scree.slice(0, k), "l-point-a", 0.55);
    const names = [
      ["● data", "l-word-a"],
      [`■ pure noise, ${REPEATS} repeats`, "l-word-b"],
      [`╌ edge (1+√γ)² = ${shown(edge())}`, "l-word-b"],
      ["▬ true variances", "l-word-c"],
    ];
    chart.legend(names, "end");
    chart.show();
  }

  /** @param {number} k @returns {string} */
  const many = (k) => (k === 1 ? "1 component stands" : k ? `${k} components stand` : "No component stands");

  function draw() {
    rows = drawn();
    values = spectrum(rows);
    noiseBand();
    drawChart();
    const root = Math.sqrt(gamma());
    const seen = strength.value > root ? "above" : "not above";
    const told = planted.value
      ? ` Planted: ${planted.value} of strength ${shown(strength.value)}, ${seen} the threshold √γ = ${shown(root)}; ` +
        `expected near ${shown(expected())}.`
      : " Nothing was planted: all true variances are 1.";
    lesson.say(
      `${many(standing())} above all noise (up to ${shown(band.high[0])}), ` +
        `${above(edge())} above the edge ${shown(edge())}; the largest is ${shown(values[0])}.${told}`,
    );
  }

  lesson.button("New data", () => (seed += 1));
  lesson.button("Pure noise", () => (planted.value = 0));
  lesson.button("Reset", () => {
    seed = 1;
    for (const slider of [n, d, planted, strength]) slider.value = slider.range.value;
  });

  lesson.start(draw, () => ({
    rows,
    values,
    band: { low: band.low, high: band.high },
    edge: edge(),
    threshold: Math.sqrt(gamma()),
    standing: standing(),
    planted: planted.value,
  }));
});
