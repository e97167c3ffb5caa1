// What every lesson has on its page: pictures, sliders, buttons, numbers in words, and a full screen for the class.
"use strict";

/**
 * A slider: digits after the point; `changed` is called before the lesson is drawn anew; `host` is where it stands.
 * @typedef {{label: string, min: number, max: number, step: number, value: number, unit?: string, digits?: number,
 *   changed?: () => void, host?: HTMLElement}} Range
 */

(function (tools) {
  /** Every lesson of the page by its name: `lessons.turn.state()` is what it shows, for tests and for the curious. */
  window.lessons = window.lessons || {};

  /**
   * @param {string} tag @param {string} kind a class
   * @param {string} [text]
   * @returns {any} of the type of its tag
   */
  function element(tag, kind, text = "") {
    const made = document.createElement(tag);
    made.className = kind;
    made.textContent = text;
    return made;
  }

  /** A slider with its label and its number. */
  class Slider {
    /** @param {HTMLElement} host @param {string} id @param {Range} range @param {() => void} changed */
    constructor(host, id, range, changed) {
      this.range = range;
      const row = element("div", "lesson-slider");
      const label = element("label", "", range.label);
      label.htmlFor = id;
      this.input = element("input", "");
      Object.assign(this.input, { type: "range", id, min: range.min, max: range.max, step: range.step });
      this.output = element("output", "");
      this.output.htmlFor.add(id);
      // The live text says the numbers once the slider rests; this one is for the eyes.
      this.output.setAttribute("aria-live", "off");
      row.append(label, this.output, this.input);
      host.append(row);
      this.value = range.value;
      this.input.addEventListener("input", () => {
        this.tell();
        changed();
      });
    }

    get value() {
      return Number(this.input.value);
    }

    set value(number) {
      this.input.value = String(number);
      this.tell();
    }

    tell() {
      const text = tools.shown(this.value, this.range.digits || 0) + (this.range.unit || "");
      this.output.textContent = text;
      this.input.setAttribute("aria-valuetext", text);
    }
  }

  /** One lesson: fills `<div class="lesson" data-lesson="name">`. */
  class Lesson {
    /** @param {string} name @param {string} title */
    constructor(name, title) {
      this.name = name;
      const found = document.querySelector(`[data-lesson="${name}"]`);
      this.root = found;
      found.textContent = "";
      found.setAttribute("role", "group");
      found.setAttribute("aria-label", title);
      this.scene = element("div", "lesson-pictures");
      this.numbers = element("div", "lesson-numbers");
      this.controls = element("div", "lesson-controls");
      this.sliders = element("div", "lesson-sliders");
      this.buttons = element("div", "lesson-buttons");
      this.ticks = element("div", "lesson-buttons");
      this.said = element("p", "lesson-live");
      this.heard = element("p", "lesson-heard");
      this.heard.setAttribute("aria-live", "polite");
      this.controls.append(this.sliders, this.buttons, this.ticks);
      found.append(this.scene, this.numbers, this.said, this.controls, this.heard);
      this.draw = () => {};
      this.waiting = 0;
      this.resting = 0;
    }

    /** @param {PictureOptions} options */
    picture(options) {
      return new tools.Picture(this.scene, options);
    }

    /** @param {string} name unique in the lesson @param {Range} range */
    slider(name, range) {
      return new Slider(range.host || this.sliders, `${this.name}-${name}`, range, () => {
        if (range.changed) range.changed();
        this.later();
      });
    }

    /** @param {string} text @param {() => void} pressed */
    button(text, pressed) {
      const made = element("button", "", text);
      made.type = "button";
      made.addEventListener("click", () => {
        pressed();
        this.later();
      });
      this.buttons.append(made);
      return made;
    }

    /**
     * A switch that is on or off.
     * @param {string} name @param {string} text @param {boolean} on @param {() => void} [changed]
     */
    tick(name, text, on, changed = () => {}) {
      const label = element("label", "lesson-tick");
      const box = element("input", "");
      Object.assign(box, { type: "checkbox", id: `${this.name}-${name}`, checked: on });
      label.append(box, ` ${text}`);
      box.addEventListener("change", () => {
        changed();
        this.later();
      });
      this.ticks.append(label);
      return box;
    }

    /** The numbers in words: seen at once, and read out once they rest. @param {string} text */
    say(text) {
      if (this.said.textContent === text) return;
      this.said.textContent = text;
      clearTimeout(this.resting);
      this.resting = window.setTimeout(() => (this.heard.textContent = text), 700);
    }

    /** Draw before the screen is next painted, once, however many changes there were. */
    later() {
      if (!this.waiting) this.waiting = requestAnimationFrame(() => this.now());
    }

    now() {
      cancelAnimationFrame(this.waiting);
      this.waiting = 0;
      this.draw();
    }

    /**
     * The lesson is complete: draw it now and whenever something changes.
     * @param {() => void} draw @param {() => object} state
     */
    start(draw, state) {
      this.draw = draw;
      this.fullScreen();
      window.lessons[this.name] = {
        state: () => {
          this.now(); // what the state says is what is seen
          return state();
        },
      };
      new ResizeObserver(() => this.later()).observe(this.scene);
      this.now();
    }

    fullScreen() {
      if (!document.fullscreenEnabled) return;
      const made = this.button("Full screen", () => {
        if (document.fullscreenElement) document.exitFullscreen();
        else this.root.requestFullscreen();
      });
      made.classList.add("lesson-full");
      document.addEventListener("fullscreenchange", () => {
        made.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
        this.later();
      });
    }
  }

  /** The reader asked for no animations. */
  const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  /**
   * Build a lesson if the page, as far as it is read, has a place for it.
   * @param {string} name @param {string} title @param {(lesson: Lesson) => void} build
   */
  function lesson(name, title, build) {
    if (document.querySelector(`[data-lesson="${name}"]`)) build(new Lesson(name, title));
  }

  Object.assign(tools, { lesson, element, still });
})(window.lessonTools);
