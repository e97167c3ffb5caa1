// Lesson 1: a line turns through centred points. uᵀCu, the variance it captures, plus the error is the trace of C.
"use strict";

window.lessonTools.lesson("turn", "Turn the line", (lesson) => {
  const tools = window.lessonTools;
  const { shown, circle: along } = tools;
  const FOUND = 0.75; // degrees from the best angle that count as found

  const plane = lesson.picture({
    label: "Points, a line through their mean, and the perpendicular residuals. Drag to turn the line.",
    aspect: 0.85,
    equal: true,
  });
  const chart = lesson.picture({
    label: "Captured variance and error against the angle of the line. Their sum is constant.",
    aspect: 0.85,
  });
  const bar = tools.element("div", "lesson-bar");
  bar.setAttribute("aria-hidden", "true"); // the same numbers stand in words below
  const [kept, lost] = [tools.element("span", "l-share-a"), tools.element("span", "l-share-b")];
  bar.append(kept, lost);
  lesson.numbers.append(bar);

  const range = { label: "Angle θ of the line", min: -90, max: 90, step: 0.5, value: -20, unit: "°", digits: 1 };
  const angle = lesson.slider("angle", range);
  let found = false;
  let seed = 0;
  let { points, C, best, values } = measured(1);

  /** Centred points, their C, its eigenvalues and the best angle. @param {number} noise @param {number} [seed] */
  function measured(noise, seed) {
    const raw = tools.measurements(noise, noise, seed);
    const mu = tools.mean(raw);
    const C = tools.covariance(raw, 0);
    const { values, vectors } = tools.jacobi(C);
    return { points: raw.map((p) => [p[0] - mu[0], p[1] - mu[1]]), C, best: tools.direction(vectors[0]), values };
  }

  /** uᵀCu. @param {number} degrees */
  const captured = (degrees) => tools.dot(along(degrees), tools.times(C, along(degrees)));

  /** The mean squared length of the residuals, measured from the points. @param {number} degrees */
  function error(degrees) {
    const u = along(degrees);
    return tools.mean(points.map((p) => [(p[0] * u[1] - p[1] * u[0]) ** 2]))[0];
  }

  const total = () => C[0][0] + C[1][1];
  const off = () => Math.abs(((((angle.value - best + 90) % 180) + 180) % 180) - 90);

  function drawPlane() {
    const u = along(angle.value);
    const reach = Math.max(4.8, ...points.flat().map(Math.abs)) + 0.4;
    plane.frame([-reach, reach], [-reach, reach]);
    plane.axes({ x: "x", y: "y" });
    const far = 2 * (plane.x[1] - plane.x[0]);
    const feet = points.map((p) => {
      const y = tools.dot(p, u);
      return [y * u[0], y * u[1]];
    });
    if (found) plane.lines([ray(along(best), far)], "l-c l-dash");
    plane.lines([ray(u, far)], "l-a");
    plane.lines(points.map((p, i) => [...p, ...feet[i]]), "l-b l-thin");
    plane.dots(feet, "l-point-a", 0.26);
    plane.dots(points, "l-point", 0.38);
    plane.show();
  }

  /** @param {Vector} u @param {number} far @returns {Vector} */
  const ray = (u, far) => [-far * u[0], -far * u[1], far * u[0], far * u[1]];

  /** Where a word near an angle has room, off the line of the slider. @param {number} degrees */
  function beside(degrees) {
    const side = degrees > 30 || (degrees > -30 && angle.value > degrees) ? -1 : 1;
    return degrees + 32 * side;
  }

  function drawChart() {
    const top = total();
    const curve = Array.from({ length: 91 }, (_, i) => [2 * i - 90, captured(2 * i - 90)]);
    chart.frame([-90, 90], [0, 1.18 * top]);
    const quarters = [-90, -45, 0, 45, 90].map((a) => [a, `${shown(a, 0)}°`]);
    chart.axes({ x: "angle θ of the line", y: "mean square", xticks: quarters });
    chart.path([[-90, 0], ...curve, [90, 0]], "l-fill-a", true);
    chart.path([[-90, top], ...curve, [90, top]], "l-fill-b", true);
    chart.path(curve, "l-a");
    chart.path([[-90, top], [90, top]], "l-b");
    chart.text(-90, top, "variance + error = constant", "l-word", "start", [0.4, -0.5]);
    chart.text(beside(best), captured(best) * 0.3, "captured", "l-word-a", "middle");
    const worst = best > 0 ? best - 90 : best + 90;
    chart.text(beside(worst), 0.6 * top, "error", "l-word-b", "middle");
    if (found) {
      chart.lines([[best, 0, best, top]], "l-c l-dash");
      chart.text(beside(best), captured(best) * 0.1, `best ${shown(best, 1)}°`, "l-word-c", "middle");
    }
    const now = captured(angle.value);
    chart.lines([[angle.value, 0, angle.value, now]], "l-a");
    chart.lines([[angle.value, now, angle.value, top]], "l-b l-dash");
    chart.dots([[angle.value, now]], "l-point-a", 0.5);
    chart.show();
  }

  /** As much as a share of the bar has room for. @param {string} name @param {number} part */
  function fitting(name, part) {
    const ems = ((part / total()) * bar.clientWidth) / plane.em;
    return ems > 8.5 ? `${name} ${shown(part)}` : ems > 3.5 ? shown(part) : "";
  }

  function draw() {
    found = found || off() <= FOUND;
    drawPlane();
    drawChart();
    const [v, e] = [captured(angle.value), error(angle.value)];
    kept.style.width = `${(100 * v) / total()}%`;
    lost.style.width = `${(100 * e) / total()}%`;
    kept.textContent = fitting("captured", v);
    lost.textContent = fitting("error", e);
    const sum = `Captured variance ${shown(v)} + error ${shown(e)} = ${shown(total())}, at every angle. `;
    const here = off() <= FOUND ? "This is the first principal axis: no line captures more." : "";
    const known = found ? `The best is ${shown(best, 1)}°.` : "Turn the line until the error is least.";
    lesson.say(sum + (here || known));
  }

  plane.drag(
    () => true,
    (x, y) => {
      angle.value = Math.round(tools.direction([x, y]) * 2) / 2;
      lesson.later();
    },
  );
  lesson.button("Show the best line", () => {
    angle.value = Math.round(best * 2) / 2;
  });
  lesson.button("New points", () => {
    seed += 1;
    ({ points, C, best, values } = measured(0.5 + 0.5 * (seed % 3), seed));
    found = false;
  });
  lesson.button("Reset", () => {
    seed = 0;
    ({ points, C, best, values } = measured(1));
    found = false;
    angle.value = range.value;
  });

  lesson.start(draw, () => ({
    points,
    angle: angle.value,
    captured: captured(angle.value),
    error: error(angle.value),
    total: total(),
    best,
    found,
    values,
  }));
});
