// Lesson 2: regression makes the errors of one coordinate small, PCA the distances from the line.
"use strict";

window.lessonTools.lesson("regression", "Regression is not PCA", (lesson) => {
  const tools = window.lessonTools;
  const { shown } = tools;
  const NAMES = ["x", "y"];

  const plane = lesson.picture({
    label: "Points, the regression line and the principal axis with their residuals. Drag the points.",
    aspect: 0.85,
    equal: true,
  });
  const table = tools.element("table", "");
  lesson.scene.append(lesson.numbers);
  lesson.numbers.append(table, lesson.said);
  const noise = { min: 0, max: 2.5, step: 0.1, value: 1, digits: 1, changed: remake };
  const sliders = NAMES.map((x) => lesson.slider(`noise-${x}`, { label: `Noise in ${x}`, ...noise }));
  let seed = 0;
  let predicted = 1; // the coordinate that regression predicts from the other one
  let held = 0;
  let points = /** @type {Matrix} */ ([]);

  let reach = 5; // of the picture; it stays while a point is dragged

  function remake() {
    points = tools.measurements(sliders[0].value, sliders[1].value, seed);
    reach = Math.max(4.8, ...points.flat().map(Math.abs)) + 0.4;
  }

  /** @typedef {{mean: Vector, along: Vector}} Line */

  /** The line that predicts the coordinate j from the other one best. @param {number} j @returns {Line} */
  function regression(j) {
    const C = tools.covariance(points, 0);
    const along = [1, 1];
    along[j] = C[0][1] / (C[1 - j][1 - j] || 1); // all alike: any slope does as well
    return { mean: tools.mean(points), along };
  }

  /** The first principal axis. @returns {Line} */
  function principal() {
    const [u] = tools.jacobi(tools.covariance(points, 0)).vectors;
    return { mean: tools.mean(points), along: u };
  }

  /** Where a line meets the parallel to axis j through p. @param {Line} line @param {Vector} p @param {number} j */
  function meets(line, p, j) {
    const found = [p[0], p[1]];
    found[j] = line.mean[j] + ((p[1 - j] - line.mean[1 - j]) * line.along[j]) / line.along[1 - j];
    return found;
  }

  /** The point of the line that is nearest to p. @param {Line} line @param {Vector} p @returns {Vector} */
  function nearest(line, p) {
    const u = tools.unit(line.along);
    const y = (p[0] - line.mean[0]) * u[0] + (p[1] - line.mean[1]) * u[1];
    return [line.mean[0] + y * u[0], line.mean[1] + y * u[1]];
  }

  /** The mean squared distance of the points from where `foot` puts them. @param {(p: Vector) => Vector} foot */
  function meanSquare(foot) {
    const squares = points.map((p) => foot(p).reduce((sum, x, j) => sum + (x - p[j]) ** 2, 0));
    return tools.mean(squares.map((s) => [s]))[0];
  }

  /** Both errors and the direction of a line. @param {Line} line */
  const measured = (line) => ({
    angle: tools.direction(line.along),
    predicted: meanSquare((p) => meets(line, p, predicted)),
    perpendicular: meanSquare((p) => nearest(line, p)),
  });

  /** @param {Line} line @returns {Vector} */
  function across(line) {
    const far = 3 * (plane.x[1] - plane.x[0]);
    const u = tools.unit(line.along);
    const [a, b] = line.mean;
    return [a - far * u[0], b - far * u[1], a + far * u[0], b + far * u[1]];
  }

  function drawPlane() {
    const [fit, axis] = [regression(predicted), principal()];
    plane.frame([-reach, reach], [-reach, reach]);
    plane.axes({ x: "x", y: "y" });
    if (truth.checked) plane.lines([across({ mean: [0, 0], along: [1, tools.SLOPE] })], "l-c l-dash l-thin");
    plane.lines([across(regression(1 - predicted))], "l-ghost l-dot");
    if (showAxis.checked) plane.lines(points.map((p) => [...p, ...nearest(axis, p)]), "l-a l-thin");
    if (showFit.checked) plane.lines(points.map((p) => [...p, ...meets(fit, p, predicted)]), "l-b l-thin l-dash");
    plane.lines([across(axis)], "l-a");
    plane.lines([across(fit)], "l-b l-dash");
    plane.dots(points, "l-point", 0.42);
    if (hand.open) follow();
    legend(axis, fit);
    plane.show();
  }

  /** The names of the lines, where they stand in the way of nothing. @param {Line} axis @param {Line} fit */
  function legend(axis, fit) {
    const names = [
      [`principal axis ${shown(tools.direction(axis.along), 1)}°`, "l-word-a"],
      [`regression ${said()} ${shown(tools.direction(fit.along), 1)}°`, "l-word-b"],
    ];
    if (truth.checked) names.push([`hidden line ${shown(tools.direction([1, tools.SLOPE]), 1)}°`, "l-word-c"]);
    plane.legend(names);
  }

  const said = () => `${NAMES[predicted]} from ${NAMES[1 - predicted]}`;

  /** A cell for a, marked where it is the smaller one. @param {number} a @param {number} b */
  const cell = (a, b) => `<td${a <= b + 1e-12 ? ' class="l-least"' : ""}>${shown(a)}</td>`;

  /** @param {ReturnType<typeof measured>} fit @param {ReturnType<typeof measured>} axis */
  function fill(fit, axis) {
    const way = predicted === 1 ? "vertical ↕" : "horizontal ↔";
    const head = ["mean squared error", way, "perpendicular"].map((name) => `<th scope="col">${name}</th>`).join("");
    /** @param {string} name @param {string} kind @param {typeof fit} line @param {typeof fit} other */
    const row = (name, kind, line, other) =>
      `<tr><th scope="row" class="${kind}">${name}</th>${cell(line.predicted, other.predicted)}` +
      `${cell(line.perpendicular, other.perpendicular)}</tr>`;
    const rows = row(`regression, ${said()}`, "l-head-b", fit, axis) + row("principal axis", "l-head-a", axis, fit);
    table.innerHTML = `<tr>${head}</tr>${rows}`;
  }

  function draw() {
    const [fit, axis] = [measured(regression(predicted)), measured(principal())];
    drawPlane();
    fill(fit, axis);
    const way = predicted === 1 ? "vertical" : "horizontal";
    const other = tools.direction(regression(1 - predicted).along);
    lesson.say(
      `Regression of ${said()}: ${shown(fit.angle, 1)}°, the least ${way} error, ${shown(fit.predicted)}. ` +
        `Principal axis: ${shown(axis.angle, 1)}°, the least perpendicular error, ${shown(axis.perpendicular)}. ` +
        `With the roles swapped, regression gives ${shown(other, 1)}° (dotted), and the axis stays.`,
    );
  }

  lesson.button("Swap the roles of x and y", () => {
    predicted = 1 - predicted;
  });
  lesson.button("New noise", () => {
    seed += 1;
    remake();
  });
  lesson.button("Reset", () => {
    seed = 0;
    predicted = 1;
    sliders.forEach((slider) => (slider.value = noise.value));
    remake();
  });
  const showFit = lesson.tick("show-fit", "residuals of regression", true);
  const showAxis = lesson.tick("show-axis", "residuals of the axis", true);
  const truth = lesson.tick("truth", "hidden line", false);

  // The same as dragging, for the keyboard.
  const hand = tools.element("details", "");
  const host = tools.element("div", "lesson-sliders");
  hand.append(tools.element("summary", "", "Move a point with sliders"), host);
  hand.addEventListener("toggle", () => lesson.later());
  lesson.controls.append(hand);
  remake();
  const choose = () => (held = chosen.value - 1);
  const range = { min: -9, max: 9, step: 0.1, value: 0, digits: 1, host };
  const many = points.length;
  const chosen = lesson.slider("point", { label: "Point", min: 1, max: many, step: 1, value: 1, host, changed: choose });
  const places = NAMES.map((x, j) => {
    const changed = () => (points[held][j] = places[j].value);
    return lesson.slider(`point-${x}`, { label: `Its ${x}`, ...range, changed });
  });

  function follow() {
    chosen.value = held + 1;
    places.forEach((slider, j) => (slider.value = points[held][j]));
    plane.dots([points[held]], "l-ring", 0.65);
  }

  plane.drag(
    (x, y, reach) => {
      const far = points.map((p) => Math.hypot(p[0] - x, p[1] - y));
      const near = far.indexOf(Math.min(...far));
      if (far[near] > reach) return false;
      held = near;
      return true;
    },
    (x, y) => {
      points[held] = [x, y].map((place) => Math.min(Math.max(place, -reach), reach));
      lesson.later();
    },
  );

  lesson.start(draw, () => ({
    points,
    predicted: NAMES[predicted],
    regression: measured(regression(predicted)),
    axis: measured(principal()),
  }));
});
