import { drawn, element } from './element.js';
import { clock } from './numbers.js';

const HEIGHT = 150;
const MARGIN = { top: 8, right: 8, bottom: 20, left: 52 };
const MINUTE_MS = 60_000;
/** How much time is shown at least: a gateway that has just begun has not an hour behind it. */
const LEAST_MS = 5 * MINUTE_MS;
const MOST_MS = 60 * MINUTE_MS;
const TICKS = 6;

/**
 * @typedef {{ name: string, values: (number | null)[] }} Line
 * @typedef {{ times: number[], lines: Line[] }} Plotted
 */

/** Lines over the last hour, each with its latest value, or with that of the moment under the pointer or the arrow keys. */
export class Plot {
  /** @type {Plotted} */
  #plotted = { times: [], lines: [] };
  /** @type {number | undefined} */
  #chosen;
  #when = element('span', { class: 'hint' });
  #legend = element('p', { class: 'legend' });
  #frame = element('div', { class: 'frame', tabindex: 0, role: 'img' });
  #title;
  #format;

  /**
   * @param {HTMLElement} figure
   * @param {(value: number) => string} format
   */
  constructor(figure, format) {
    const caption = figure.querySelector('figcaption');
    this.#title = caption?.textContent ?? '';
    caption?.append(this.#when);
    this.#format = format;
    figure.append(this.#legend, this.#frame);
    new ResizeObserver(() => this.#draw()).observe(this.#frame);
    this.#frame.addEventListener('pointermove', (event) => this.#choose(this.#indexAt(event.offsetX)));
    this.#frame.addEventListener('pointerleave', () => this.#choose(undefined));
    this.#frame.addEventListener('blur', () => this.#choose(undefined));
    this.#frame.addEventListener('keydown', (event) => this.#step(event));
  }

  /** @param {Plotted} plotted */
  show(plotted) {
    this.#plotted = plotted;
    this.#draw();
  }

  #draw() {
    const width = this.#frame.clientWidth;
    if (width === 0) return;
    const { times, lines } = this.#plotted;
    const end = times.at(-1) ?? Date.now();
    const right = width - MARGIN.right;
    const bottom = HEIGHT - MARGIN.bottom;
    const span = spanOf(times);
    const x = (/** @type {number} */ time) => right - ((end - time) / span) * (right - MARGIN.left);
    const top = niceTop(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))));
    const y = (/** @type {number} */ value) => bottom - (value / top) * (bottom - MARGIN.top);
    const picture = drawn('svg', { width, height: HEIGHT, 'aria-hidden': 'true' });
    for (const value of [0, top / 2, top]) {
      picture.append(
        drawn('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }),
        drawn('text', { class: 'y', x: MARGIN.left - 6, y: y(value) + 4 }, this.#format(value)),
      );
    }
    const tick = [1, 2, 5, 10].map((minutes) => minutes * MINUTE_MS).find((step) => step * TICKS >= span) ?? span;
    for (let time = Math.floor(end / tick) * tick; time > end - span; time -= tick) {
      if (x(time) < MARGIN.left + 14 || x(time) > right - 14) continue;
      picture.append(drawn('text', { class: 'x', x: x(time), y: HEIGHT - 4 }, clock(time).slice(0, 5)));
    }
    for (const [index, { values }] of lines.entries())
      picture.append(drawn('path', { class: `line line-${index}`, d: pathOf(times, values, x, y) }));
    const chosen = this.#chosen === undefined ? undefined : times[this.#chosen];
    if (chosen !== undefined)
      picture.append(drawn('line', { class: 'cursor', x1: x(chosen), x2: x(chosen), y1: MARGIN.top, y2: bottom }));
    this.#frame.replaceChildren(picture);
    this.#tell();
  }

  #tell() {
    const { times, lines } = this.#plotted;
    const index = this.#chosen ?? times.length - 1;
    const told = lines.map(({ name, values }) => {
      const value = values[index];
      return { name, value: value === null || value === undefined ? '–' : this.#format(value) };
    });
    const marks = told.map(({ name, value }, at) =>
      element('span', {}, element('span', { class: `mark mark-${at}` }), `${name} `, element('b', {}, value)),
    );
    const time = times[index] === undefined ? 'nothing yet' : `at ${clock(times[index])}`;
    this.#legend.replaceChildren(...marks);
    this.#when.textContent = time;
    const spoken = told.map(({ name, value }) => `${name} ${value}`).join(', ');
    this.#frame.setAttribute('aria-label', `${this.#title}; ${time}: ${spoken}. Arrow keys move.`);
  }

  /** @param {number | undefined} index */
  #choose(index) {
    if (index === this.#chosen) return;
    this.#chosen = index;
    this.#draw();
  }

  /** @param {number} left */
  #indexAt(left) {
    const { times } = this.#plotted;
    const last = times.at(-1);
    if (last === undefined) return undefined;
    const width = this.#frame.clientWidth - MARGIN.left - MARGIN.right;
    const time = last - ((this.#frame.clientWidth - MARGIN.right - left) / width) * spanOf(times);
    const after = times.findIndex((moment) => moment >= time);
    return after === -1 ? times.length - 1 : after;
  }

  /** @param {KeyboardEvent} event */
  #step(event) {
    const last = this.#plotted.times.length - 1;
    const from = this.#chosen ?? last;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') this.#choose(undefined);
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.#choose(Math.min(last, Math.max(0, to)));
  }
}

/** @param {number[]} times */
function spanOf(times) {
  return Math.min(MOST_MS, Math.max(LEAST_MS, (times.at(-1) ?? 0) - (times[0] ?? 0)));
}

/**
 * Where there is no value there is a gap; a value between two gaps is a point.
 *
 * @param {number[]} times
 * @param {(number | null)[]} values
 * @param {(time: number) => number} x
 * @param {(value: number) => number} y
 */
function pathOf(times, values, x, y) {
  let isOpen = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isOpen = false;
        return '';
      }
      const place = `${x(times[index] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
      const move = isOpen ? `L${place}` : `M${place}h.1`;
      isOpen = true;
      return move;
    })
    .join('');
}

/**
 * The next number that halves well.
 *
 * @param {number} value
 */
function niceTop(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
