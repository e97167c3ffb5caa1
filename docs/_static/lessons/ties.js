// Lesson 4: samples of a flat cloud. Where λ₁ = λ₂ the axes of a sample are arbitrary, their plane is not.
"use strict";

window.lessonTools.lesson("ties", "Ties: the axis spins, the plane stays", (lesson) => {
  const tools = window.lessonTools;
  const { shown } = tools;
  const THIN = 0.03; // λ₃
  const MANY = 40;

  const space = lesson.picture({
    label: "A flat cloud of points in space with the first two axes of a sample. Drag to turn the view.",
    aspect: 0.9,
    equal: true,
    bare: true,
  });
  const chart = lesson.picture({
    label: "For every sample, the angle of its first axis and of its plane to the true ones.",
    aspect: 0.9,
  });
  const changed = again;
  const gap = lesson.slider("gap", { label: "Gap λ₁ − λ₂", min: 0, max: 0.9, step: 0.01, value: 0, digits: 2, changed });
  const count = lesson.slider("count", { label: "Points in a sample", min: 50, max: 600, step: 50, value: 200, changed });
  const yaw = lesson.slider("yaw", { label: "View: turn", min: -180, max: 180, step: 1, value: -35, unit: "°" });
  const pitch = lesson.slider("pitch", { label: "View: height", min: 0, max: 90, step: 1, value: 40, unit: "°" });

  /** @typedef {{axes: Matrix, values: Vector, axisAngle: number, planeAngle: number}} Sample */
  let seeds = [2];
  let samples = /** @type {Sample[]} */ ([]);
  let points = /** @type {Matrix} */ ([]);

  /** The true eigenvalues; the true axes are those of the coordinates. */
  const lambda = () => [1, 1 - gap.value, THIN];

  /** Normal points with the variances λ. The same seed gives the same points, stretched. @param {number} seed */
  function drawn(seed) {
    const draw = tools.normal(seed);
    const scale = lambda().map(Math.sqrt);
    return Array.from({ length: count.value }, () => scale.map((s) => s * draw()));
  }

  /** @param {Matrix} rows @returns {Sample} */
  function measured(rows) {
    const { values, vectors } = tools.jacobi(tools.covariance(rows, 1));
    // The angle between two planes in space is the angle between their normals.
    const planeAngle = tools.lineAngle(vectors[2], [0, 0, 1]);
    return { axes: vectors, values, axisAngle: tools.lineAngle(vectors[0], [1, 0, 0]), planeAngle };
  }

  /** All samples once more, after λ or their size changed. */
  function again() {
    samples = seeds.map((seed) => {
      points = drawn(seed);
      return measured(points);
    });
  }

  /** @param {number} more */
  function resample(more) {
    for (let i = 0; i < more; i++) {
      seeds.push(seeds[seeds.length - 1] + 1);
      points = drawn(seeds[seeds.length - 1]);
      samples.push(measured(points));
    }
  }

  /** The directions to the right and upwards on the screen, and towards the eye. @returns {Matrix} */
  function view() {
    const [ca, sa, cb, sb] = [...tools.circle(yaw.value), ...tools.circle(pitch.value)];
    return [[ca, sa, 0], [sa * sb, -ca * sb, cb], [sa * cb, -ca * cb, sb]];
  }

  function drawSpace() {
    const [right, up, eye] = view();
    /** @param {Vector} p @returns {Vector} */
    const flat = (p) => [tools.dot(p, right), tools.dot(p, up)];
    /** @param {Vector} u @param {number} size @returns {Vector} */
    const both = (u, size) => [...flat(u.map((x) => -size * x)), ...flat(u.map((x) => size * x))];
    const [u1, u2, u3] = samples[samples.length - 1].axes;
    const facing = tools.dot(u3, eye) > 0 ? 1 : -1;
    const front = points.filter((p) => facing * tools.dot(p, u3) > 0);
    const disc = Array.from({ length: 61 }, (_, i) => {
      const [c, s] = tools.circle(6 * i);
      return flat(u1.map((x, j) => 2.6 * (c * x + s * u2[j])));
    });
    space.frame([-3, 3], [-3, 3]);
    space.dots(points.filter((p) => facing * tools.dot(p, u3) <= 0).map(flat), "l-point l-far", 0.17);
    space.path(disc, "l-fill-b", true);
    space.path(disc, "l-b l-thin", true);
    space.dots(front.map(flat), "l-point", 0.2);
    space.lines(samples.slice(-MANY - 1, -1).map((sample) => both(sample.axes[0], 2.6)), "l-a l-thin l-faint");
    space.lines([both(u2, 2.6)], "l-ghost");
    if (gap.value) space.lines([both([1, 0, 0], 3.4)], "l-c l-dash");
    space.lines([both(u1, 2.9)], "l-a");
    const tip = flat(u1.map((x) => 2.9 * x));
    space.text(tip[0], tip[1], "first axis", "l-word-a", tip[0] > 0 ? "end" : "start", [0, tip[1] > 0 ? -0.6 : 1.2]);
    const names = [["■ plane of the first two axes", "l-word-b"]];
    if (gap.value) names.push(["▬ true first axis", "l-word-c"]);
    space.legend(names);
    space.show();
  }

  function drawChart() {
    const first = Math.max(0, samples.length - MANY - 1);
    const last = samples.slice(first);
    chart.frame([first, first + Math.max(20, last.length) + 1], [0, 103]);
    const degrees = [0, 15, 30, 45, 60, 75, 90].map((a) => [a, `${a}°`]);
    chart.axes({ x: "sample", y: "angle to the truth", yticks: degrees });
    chart.dots(last.map((sample, i) => [first + i + 1, sample.axisAngle]), "l-point-a", 0.38);
    chart.dots(last.map((sample, i) => [first + i + 1, sample.planeAngle]), "l-point-b", 0.32, true);
    chart.text(chart.x[0], 103, "● first axis", "l-word-a", "start", [0.2, 0.7]);
    chart.text(chart.x[1], 103, "■ plane", "l-word-b", "end", [-0.2, 0.7]);
    chart.show();
  }

  function draw() {
    drawSpace();
    drawChart();
    const { axisAngle, planeAngle } = samples[samples.length - 1];
    const axis = shown(tools.median(samples.map((sample) => sample.axisAngle)), 1);
    const plane = shown(tools.median(samples.map((sample) => sample.planeAngle)), 1);
    const all = samples.length > 1 ? ` Median of ${samples.length} samples: axis ${axis}°, plane ${plane}°.` : "";
    const tie = " λ₁ = λ₂: every direction of the plane is a true first axis; the angle is to one of them.";
    const one = `This sample: first axis off by ${shown(axisAngle, 1)}°, plane off by ${shown(planeAngle, 1)}°.`;
    lesson.say(one + all + (gap.value ? "" : tie));
  }

  let grip = [0, 0, 0, 0];
  let held = false;
  space.drag(
    () => {
      held = false;
      return true;
    },
    (x, y) => {
      if (!held) grip = [x, y, yaw.value, pitch.value];
      held = true;
      const turned = grip[2] - 40 * (x - grip[0]);
      yaw.value = ((((turned + 180) % 360) + 360) % 360) - 180;
      pitch.value = Math.min(90, Math.max(0, grip[3] - 40 * (y - grip[1])));
      lesson.later();
    },
  );
  lesson.button("Draw a new sample", () => resample(1));
  lesson.button(`Draw ${MANY} samples`, () => resample(MANY));
  lesson.button("Reset", () => {
    seeds = [2];
    gap.value = 0;
    count.value = 200;
    again();
  });
  again();

  lesson.start(draw, () => ({ lambda: lambda(), points, samples, ...samples[samples.length - 1] }));
});
