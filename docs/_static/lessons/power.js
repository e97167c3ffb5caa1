// Lesson 3: power iteration v ← A v/‖A v‖ in the plane. tan ∠(v, u₁) shrinks by |λ₂/λ₁|.
"use strict";

window.lessonTools.lesson("power", "The eigengap and power iteration", (lesson) => {
  const tools = window.lessonTools;
  const { shown, tenTo } = tools;
  const FIRST = tools.circle(24); // here rounding acts
  const SECOND = [-FIRST[1], FIRST[0]];
  const MOST = 1200;
  const FLOOR = -16; // the last digit

  const plane = lesson.picture({
    label: "The unit circle, its image under A, both eigenvectors and the iterate.",
    aspect: 0.9,
    equal: true,
    bare: true,
  });
  const chart = lesson.picture({
    label: "Errors of the vector and the eigenvalue, on a logarithmic scale, against steps.",
    aspect: 0.9,
  });
  const changed = restart;
  const ratio = lesson.slider("ratio", { label: "λ₂/λ₁", min: -1, max: 1, step: 0.01, value: 0.8, digits: 2, changed });
  const angles = { label: "Start: angle to u₁", min: 0, max: 90, step: 1, value: 75, unit: "°", changed };
  const begin = lesson.slider("start", angles);
  /** @typedef {{v: Vector, value: number, vectorError: number, valueError: number, tangent: number}} Step */
  let history = /** @type {Step[]} */ ([]);
  let timer = 0;

  const lambda = () => (flipped.checked ? -1 : 1);

  /** A = λ₁u₁u₁ᵀ + λ₂u₂u₂ᵀ. @returns {Matrix} */
  function matrix() {
    const [a, b] = [lambda(), lambda() * ratio.value];
    return [0, 1].map((i) => [0, 1].map((j) => a * FIRST[i] * FIRST[j] + b * SECOND[i] * SECOND[j]));
  }

  /** @param {Vector} v @returns {Step} */
  function measured(v) {
    const value = tools.dot(v, tools.times(matrix(), v));
    const [along, across] = [Math.abs(tools.dot(v, FIRST)), Math.abs(tools.dot(v, SECOND))];
    return { v, value, vectorError: across, valueError: Math.abs(value - lambda()), tangent: across / along };
  }

  function restart() {
    pause();
    const [c, s] = tools.circle(begin.value);
    history = [measured([0, 1].map((i) => c * FIRST[i] + s * SECOND[i]))];
  }

  const last = () => history[history.length - 1];
  const stuck = () => `${last().v.map(Math.abs)}` === `${history[history.length - 2]?.v.map(Math.abs)}`;
  const done = () => history.length > MOST || stuck() || Math.max(last().vectorError, last().valueError) < 1e-15;

  function step() {
    const w = tools.times(matrix(), last().v);
    // λ₂ = 0 and a start orthogonal to u₁: A v may be 0.
    if (tools.dot(w, w) > 0 && history.length <= MOST) history.push(measured(tools.unit(w)));
  }

  function pause() {
    clearInterval(timer);
    timer = 0;
    run.textContent = "Run";
  }

  function start() {
    if (tools.still()) {
      for (let m = 0; m < MOST && !done(); m++) step();
      return;
    }
    run.textContent = "Pause";
    timer = window.setInterval(() => {
      // Faster with time.
      for (let m = 0; m < 1 + history.length / 25 && !done(); m++) step();
      if (done()) pause();
      lesson.later();
    }, 220);
  }

  function drawPlane() {
    plane.frame([-1.2, 1.2], [-1.2, 1.2]);
    const round = Array.from({ length: 121 }, (_, i) => tools.circle(3 * i));
    const A = matrix();
    /** @param {Vector} u @param {number} size @returns {Vector} */
    const both = (u, size) => [-size * u[0], -size * u[1], size * u[0], size * u[1]];
    plane.path(round, "l-ghost");
    plane.path(round.map((u) => tools.times(A, u)), "l-c l-thin l-dash");
    plane.lines([both(FIRST, 1.5)], "l-b l-thin");
    plane.lines([both(SECOND, 1.5)], "l-ghost l-dash");
    plane.text(1.06 * FIRST[0], 1.06 * FIRST[1], "u₁", "l-word-b", "start", [0.1, 1.5]);
    plane.text(1.06 * SECOND[0], 1.06 * SECOND[1], "u₂", "l-word", "start", [0.6, 0]);
    plane.lines(history.slice(-7, -1).map(({ v }) => [0, 0, ...v]), "l-a l-thin l-faint");
    plane.arrow([0, 0], last().v, "l-a");
    plane.dots([tools.times(A, last().v)], "l-point-c", 0.4);
    const after = history.length > 1 ? `after ${history.length - 1} steps` : "at the start";
    plane.legend([[`➔ v ${after}`, "l-word-a"], ["● A v", "l-word-c"]], "start", true);
    plane.show();
  }

  /** @param {number} x @returns {number} where the chart shows it */
  const log = (x) => Math.max(Math.log10(x), FLOOR);

  function drawChart() {
    const most = Math.max(20, Math.ceil((history.length - 1) / 20) * 20);
    chart.frame([0, most], [FLOOR - 0.3, 1.6]);
    const powers = [0, -4, -8, -12, -16].map((p) => [p, tenTo(p)]);
    chart.axes({ x: "steps m", y: "error", yticks: powers });
    const r = Math.abs(ratio.value);
    const slope = Math.tan((begin.value * Math.PI) / 180);
    /** @param {(m: number) => number} f @param {string} kind */
    const theory = (f, kind) => {
      const all = Array.from({ length: 4 * most + 1 }, (_, i) => [i / 4, Math.log10(f(i / 4))]);
      chart.path(all.filter(([, y]) => y >= FLOOR && y <= 0.6), kind);
    };
    theory((m) => slope * r ** m, "l-a l-thin l-dash");
    theory((m) => (1 - ratio.value) * (slope * r ** m) ** 2, "l-b l-thin l-dash");
    /** @param {"vectorError" | "valueError"} which @returns {Matrix} */
    const seen = (which) => history.map((h, m) => [m, log(h[which])]);
    const size = most > 60 ? 0.2 : 0.3;
    chart.dots(seen("valueError"), "l-point-b", size, true);
    chart.dots(seen("vectorError"), "l-point-a", size);
    chart.text(most, 0, "● vector, sin ∠(v, u₁)", "l-word-a", "end", [0, -1]);
    chart.text(0, FLOOR, "■ eigenvalue, |ρ − λ₁|", "l-word-b", "start", [0.5, -0.6]);
    chart.show();
  }

  /** What is going on, in a sentence. */
  function meaning() {
    const r = ratio.value;
    if (begin.value === 0) return "The start is the first eigenvector already.";
    if (r === 1) return "λ₁ = λ₂: every vector is an eigenvector, and v stays. Only the plane is determined.";
    if (r === -1) return "λ₂ = −λ₁: both parts of v keep their size, so that nothing converges.";
    if (begin.value === 90 && last().vectorError > 0.5) {
      const next = stuck() ? "v rounds to itself, so change λ₂/λ₁" : "go on";
      return `The start is orthogonal to u₁: v finds u₂. Only rounding, about 10⁻¹⁶, can bring u₁ back: ${next}.`;
    }
    if (r === 0) return "λ₂ = 0: one step is enough.";
    const sides = r < 0 ? " λ₂/λ₁ < 0: v changes sides in every step." : "";
    const steps = shown(1 / Math.log10(1 / Math.abs(r)), 1);
    return `One more digit of the vector takes ${steps} steps, of the eigenvalue half as many.${sides}`;
  }

  function draw() {
    drawPlane();
    drawChart();
    const angle = shown((Math.atan(last().tangent) * 180) / Math.PI, 4);
    const value = `eigenvalue ρ = vᵀAv = ${shown(last().value, 8)}`;
    lesson.say(`After ${history.length - 1} steps: angle to u₁ ${angle}°, ${value}. ${meaning()}`);
  }

  lesson.button("Step", () => {
    pause();
    step();
  });
  const run = lesson.button("Run", () => (timer ? pause() : start()));
  lesson.button("Start again", restart);
  const flipped = lesson.tick("flipped", "λ₁ = −1 instead of 1", false, restart);
  restart();

  lesson.start(draw, () => ({
    matrix: matrix(),
    ratio: ratio.value,
    first: FIRST,
    start: history[0].v,
    steps: history.length - 1,
    history,
    running: timer !== 0,
  }));
});
