import { element, svgElement } from './element.ts';
import { timeOfDay } from './format.ts';

const HEIGHT = 150;
const MARGIN = { top: 8, right: 8, bottom: 20, left: 52 };
const MINUTE_MS = 60_000;
/** The shortest time axis, for a gateway that has just started. */
const MIN_SPAN_MS = 5 * MINUTE_MS;
const MAX_SPAN_MS = 60 * MINUTE_MS;
const TICKS = 6;

interface PlotData {
  times: number[];
  lines: { name: string; values: (number | null)[] }[];
}

/** A plot of the last hour. Its legend shows the latest values, or those that the pointer or the arrow keys select. */
export class Plot {
  #data: PlotData = { times: [], lines: [] };
  #selected: number | undefined;
  #timeLabel = element('span', { class: 'hint' });
  #legend = element('p', { class: 'legend row' });
  #frame = element('div', { class: 'frame', tabindex: 0, role: 'img' });
  #title;
  #format;

  constructor(figure: HTMLElement, format: (value: number) => string) {
    const caption = figure.querySelector('figcaption');
    this.#title = caption?.textContent ?? '';
    caption?.append(this.#timeLabel);
    this.#format = format;
    figure.append(this.#legend, this.#frame);
    new ResizeObserver(() => this.#draw()).observe(this.#frame);
    this.#frame.addEventListener('pointermove', (event) => this.#select(this.#indexAt(event.offsetX)));
    this.#frame.addEventListener('pointerleave', () => this.#select(undefined));
    this.#frame.addEventListener('blur', () => this.#select(undefined));
    this.#frame.addEventListener('keydown', (event) => this.#step(event));
  }

  show(data: PlotData) {
    this.#data = data;
    this.#draw();
  }

  #draw() {
    const width = this.#frame.clientWidth;
    if (width === 0) return;
    const { times, lines } = this.#data;
    const end = times.at(-1) ?? Date.now();
    const right = width - MARGIN.right;
    const bottom = HEIGHT - MARGIN.bottom;
    const span = spanOf(times);
    const x = (time: number) => right - ((end - time) / span) * (right - MARGIN.left);
    const top = niceTop(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))));
    const y = (value: number) => bottom - (value / top) * (bottom - MARGIN.top);
    const svg = svgElement('svg', { width, height: HEIGHT, 'aria-hidden': 'true' });
    for (const value of [0, top / 2, top]) {
      svg.append(
        svgElement('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }),
        svgElement('text', { 'text-anchor': 'end', x: MARGIN.left - 6, y: y(value) + 4 }, this.#format(value)),
      );
    }
    const tick = [1, 2, 5, 10].map((minutes) => minutes * MINUTE_MS).find((step) => step * TICKS >= span) ?? span;
    for (let time = Math.floor(end / tick) * tick; time > end - span; time -= tick) {
      if (x(time) < MARGIN.left + 14 || x(time) > right - 14) continue;
      svg.append(
        svgElement('text', { 'text-anchor': 'middle', x: x(time), y: HEIGHT - 4 }, timeOfDay(time).slice(0, 5)),
      );
    }
    for (const [index, { values }] of lines.entries())
      svg.append(svgElement('path', { class: `line line-${index}`, d: pathOf(times, values, x, y) }));
    const selected = this.#selected === undefined ? undefined : times[this.#selected];
    if (selected !== undefined)
      svg.append(svgElement('line', { class: 'cursor', x1: x(selected), x2: x(selected), y1: MARGIN.top, y2: bottom }));
    this.#frame.replaceChildren(svg);
    this.#updateLegend();
  }

  #updateLegend() {
    const { times, lines } = this.#data;
    const index = this.#selected ?? times.length - 1;
    const latest = lines.map(({ name, values }) => {
      const value = values[index];
      return { name, value: value === null || value === undefined ? '–' : this.#format(value) };
    });
    const marks = latest.map(({ name, value }, at) =>
      element('span', {}, element('span', { class: `mark mark-${at}` }), `${name} `, element('b', {}, value)),
    );
    const time = times[index] === undefined ? 'no data' : `at ${timeOfDay(times[index])}`;
    this.#legend.replaceChildren(...marks);
    this.#timeLabel.textContent = time;
    const values = latest.map(({ name, value }) => `${name} ${value}`).join(', ');
    this.#frame.setAttribute('aria-label', `${this.#title}; ${time}: ${values}. Use the arrow keys to select a time.`);
  }

  #select(index: number | undefined) {
    if (index === this.#selected) return;
    this.#selected = index;
    this.#draw();
  }

  #indexAt(left: number) {
    const { times } = this.#data;
    const last = times.at(-1);
    if (last === undefined) return undefined;
    const width = this.#frame.clientWidth - MARGIN.left - MARGIN.right;
    const time = last - ((this.#frame.clientWidth - MARGIN.right - left) / width) * spanOf(times);
    const after = times.findIndex((other) => other >= time);
    return after === -1 ? times.length - 1 : after;
  }

  #step(event: KeyboardEvent) {
    const last = this.#data.times.length - 1;
    const from = this.#selected ?? last;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') this.#select(undefined);
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.#select(Math.min(last, Math.max(0, to)));
  }
}

function spanOf(times: number[]) {
  return Math.min(MAX_SPAN_MS, Math.max(MIN_SPAN_MS, (times.at(-1) ?? 0) - (times[0] ?? 0)));
}

/** Returns the path of a line. A missing value leaves a gap; a value between two gaps becomes a point. */
function pathOf(times: number[], values: (number | null)[], x: (time: number) => number, y: (value: number) => number) {
  let isOpen = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isOpen = false;
        return '';
      }
      const point = `${x(times[index] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`;
      const move = isOpen ? `L${point}` : `M${point}h.1`;
      isOpen = true;
      return move;
    })
    .join('');
}

/** Returns the top of the axis for a maximum: the next larger number that is easy to halve. */
function niceTop(value: number) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
