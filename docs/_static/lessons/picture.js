// Pictures of the lessons: SVG that is drawn anew at every change. Colours come from lessons.css by class, so that
// light and dark need no drawing of their own; sizes are those of the screen, so that letters never shrink.
"use strict";

/** @typedef {{label: string, aspect: number, equal?: boolean, bare?: boolean}} PictureOptions */
/** @typedef {[number, string][]} Ticks  places and what is written there */
/** @typedef {{x?: string, y?: string, xticks?: Ticks, yticks?: Ticks}} AxesOptions */

(function (tools) {
  /** @param {number} x @returns {number} tenths of a pixel are enough */
  const rounded = (x) => Math.round(10 * x) / 10;

  /** @param {string} text */
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

  /**
   * About `count` round numbers between low and high.
   * @param {number} low @param {number} high @param {number} count
   * @returns {Ticks}
   */
  function ticks(low, high, count) {
    const rough = (high - low) / count;
    const ten = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= rough * 0.999) || 10 * ten;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
      found.push([i * step, tools.shown(i * step, digits)]);
    }
    return found;
  }

  let made = 0;

  /** One drawing with coordinates of its own. */
  class Picture {
    /**
     * @param {HTMLElement} host
     * @param {PictureOptions} options  aspect: height over width; equal: x and y have the same scale; bare: no axes
     */
    constructor(host, options) {
      this.options = options;
      this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      this.svg.setAttribute("role", "img");
      this.svg.setAttribute("aria-label", options.label);
      this.figure = document.createElement("figure");
      this.figure.className = "lesson-picture";
      this.figure.append(this.svg);
      host.append(this.figure);
      this.parts = /** @type {string[]} */ ([]);
      this.width = this.height = this.em = 0;
      this.box = { left: 0, right: 0, top: 0, bottom: 0 };
      this.x = this.y = [0, 1];
      this.clip = `clip-${(made += 1)}`;
    }

    /**
     * Begin a drawing whose coordinates have at least these ranges.
     * @param {Vector} x
     * @param {Vector} y
     */
    frame(x, y) {
      this.parts = [];
      this.em = parseFloat(getComputedStyle(this.svg).fontSize);
      this.width = Math.max(this.figure.clientWidth, 200);
      // A phone is narrow: there pictures are nearly square.
      const aspect = this.width < 28 * this.em ? Math.max(this.options.aspect, 0.9) : this.options.aspect;
      this.height = Math.round(document.fullscreenElement ? this.figure.clientHeight : this.width * aspect);
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      this.svg.setAttribute("height", String(this.height));
      const pad = this.options.bare ? 0.3 * this.em : this.em;
      this.box = {
        left: this.options.bare ? pad : 4 * this.em,
        right: this.width - pad,
        top: pad,
        bottom: this.height - (this.options.bare ? pad : 3 * this.em),
      };
      [this.x, this.y] = this.options.equal ? this.widened(x, y) : [x, y];
      const { left, right, top, bottom } = this.box;
      const inside = `<rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/>`;
      this.parts.push(`<clipPath id="${this.clip}">${inside}</clipPath>`);
    }

    /**
     * The ranges, one of them widened, so that a unit of x is as long as a unit of y.
     * @param {Vector} x @param {Vector} y
     * @returns {Matrix}
     */
    widened(x, y) {
      const wide = this.box.right - this.box.left;
      const high = this.box.bottom - this.box.top;
      const unit = Math.max((x[1] - x[0]) / wide, (y[1] - y[0]) / high);
      /** @param {Vector} range @param {number} length @returns {Vector} */
      const around = (range, length) => {
        const middle = (range[0] + range[1]) / 2;
        return [middle - (unit * length) / 2, middle + (unit * length) / 2];
      };
      return [around(x, wide), around(y, high)];
    }

    /** @param {number} x @returns {number} pixels from the left */
    px(x) {
      return rounded(this.box.left + ((x - this.x[0]) / (this.x[1] - this.x[0])) * (this.box.right - this.box.left));
    }

    /** @param {number} y @returns {number} pixels from the top */
    py(y) {
      return rounded(this.box.bottom - ((y - this.y[0]) / (this.y[1] - this.y[0])) * (this.box.bottom - this.box.top));
    }

    /** @param {number} x @param {number} y @returns {string} */
    at(x, y) {
      return `${this.px(x)},${this.py(y)}`;
    }

    /** Grid lines, numbers and names of the axes. @param {AxesOptions} [options] */
    axes(options = {}) {
      const { left, right, top, bottom } = this.box;
      const em = this.em;
      for (const [value, text] of options.xticks || ticks(...this.x, (right - left) / (4.5 * em))) {
        this.parts.push(`<path class="l-grid" d="M${this.px(value)},${top}V${bottom}"/>`);
        this.write(this.px(value), bottom + 1.2 * em, text, "l-tick", "middle");
      }
      for (const [value, text] of options.yticks || ticks(...this.y, (bottom - top) / (3 * em))) {
        this.parts.push(`<path class="l-grid" d="M${left},${this.py(value)}H${right}"/>`);
        this.write(left - 0.4 * em, this.py(value) + 0.33 * em, text, "l-tick", "end");
      }
      this.write((left + right) / 2, this.height - 0.4 * em, options.x || "", "l-name", "middle");
      const aside = `transform="translate(${0.95 * em} ${(top + bottom) / 2}) rotate(-90)"`;
      this.write(0, 0, options.y || "", "l-name", "middle", aside);
    }

    /**
     * Words at a place in pixels.
     * @param {number} x @param {number} y @param {string} text @param {string} kind @param {string} anchor
     * @param {string} [more] attributes
     */
    write(x, y, text, kind, anchor, more = "") {
      this.parts.push(`<text class="${kind}" text-anchor="${anchor}" x="${x}" y="${y}" ${more}>${escaped(text)}</text>`);
    }

    /** @param {Matrix} points @param {string} kind a class @param {boolean} [closed] */
    path(points, kind, closed = false) {
      if (!points.length) return;
      const d = points.map(([x, y]) => this.at(x, y)).join("L");
      this.parts.push(`<path class="${kind}" clip-path="url(#${this.clip})" d="M${d}${closed ? "Z" : ""}"/>`);
    }

    /** Many separate lines as one element. @param {Matrix} lines @param {string} kind */
    lines(lines, kind) {
      const d = lines.map(([a, b, c, e]) => `M${this.at(a, b)}L${this.at(c, e)}`).join("");
      if (d) this.parts.push(`<path class="${kind}" clip-path="url(#${this.clip})" d="${d}"/>`);
    }

    /**
     * @param {Matrix} points @param {string} kind
     * @param {number} [size] radius in em
     * @param {boolean} [square]
     */
    dots(points, kind, size = 0.35, square = false) {
      const r = size * this.em;
      for (const [x, y] of points) {
        const [cx, cy] = [this.px(x), this.py(y)];
        const edge = `x="${cx - r}" y="${cy - r}" width="${2 * r}" height="${2 * r}"`;
        const round = `cx="${cx}" cy="${cy}" r="${r}"`;
        this.parts.push(square ? `<rect class="${kind}" ${edge}/>` : `<circle class="${kind}" ${round}/>`);
      }
    }

    /**
     * An arrow from one point to another.
     * @param {Vector} from @param {Vector} to @param {string} kind
     */
    arrow(from, to, kind) {
      const [x, y] = [this.px(to[0]), this.py(to[1])];
      const turn = Math.atan2(y - this.py(from[1]), x - this.px(from[0]));
      const barb = (/** @type {number} */ by) =>
        `${x - this.em * Math.cos(turn + by)},${y - this.em * Math.sin(turn + by)}`;
      this.lines([[...from, ...to]], kind);
      this.parts.push(`<path class="${kind}" d="M${barb(0.45)}L${this.at(...to)}L${barb(-0.45)}"/>`);
    }

    /**
     * @param {number} x @param {number} y @param {string} text
     * @param {string} [kind] @param {"start"|"middle"|"end"} [anchor]
     * @param {Vector} [shift] in em
     */
    text(x, y, text, kind = "l-word", anchor = "start", shift = [0, 0]) {
      this.write(this.px(x) + shift[0] * this.em, this.py(y) + shift[1] * this.em, text, kind, anchor);
    }

    /**
     * Names of what is drawn, one below the other in a corner.
     * @param {string[][]} names text and class of each
     * @param {"start"|"end"} side left or right
     * @param {boolean} low at the bottom
     */
    legend(names, side = "start", low = false) {
      const x = this.x[side === "start" ? 0 : 1];
      const first = low ? 1 - 1.4 * names.length : 1.2;
      names.forEach(([text, kind], i) => {
        this.text(x, this.y[low ? 0 : 1], text, kind, side, [side === "start" ? 0.4 : -0.4, first + 1.4 * i]);
      });
    }

    /** Put the drawing on the page. */
    show() {
      this.svg.innerHTML = this.parts.join("");
    }

    /**
     * Dragging with mouse, pen or finger. A finger that takes hold of nothing scrolls the page.
     * @param {(x: number, y: number, reach: number) => boolean} take reach: a finger's width in units of x
     * @param {(x: number, y: number) => void} move
     */
    drag(take, move) {
      /** @param {{clientX: number, clientY: number}} event @returns {Vector} */
      const place = (event) => {
        const edge = this.svg.getBoundingClientRect();
        const { left, right, top, bottom } = this.box;
        const across = (event.clientX - edge.left - left) / (right - left);
        const up = (bottom - (event.clientY - edge.top)) / (bottom - top);
        return [this.x[0] + across * (this.x[1] - this.x[0]), this.y[0] + up * (this.y[1] - this.y[0])];
      };
      const reach = () => (24 * (this.x[1] - this.x[0])) / (this.box.right - this.box.left);
      let held = false;
      this.svg.classList.add("lesson-drag");
      const hold = (/** @type {TouchEvent} */ e) => take(...place(e.touches[0]), reach()) && e.preventDefault();
      this.svg.addEventListener("touchstart", hold, { passive: false });
      this.svg.addEventListener("pointerdown", (event) => {
        held = take(...place(event), reach());
        if (!held) return;
        this.svg.setPointerCapture(event.pointerId);
        move(...place(event));
      });
      this.svg.addEventListener("pointermove", (event) => held && move(...place(event)));
      for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => (held = false));
    }
  }

  Object.assign(tools, { Picture });
})(window.lessonTools);
