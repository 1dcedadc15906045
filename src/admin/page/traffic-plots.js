import { byId } from './element.js';
import { decimal, duration } from './format.js';
import { Plot } from './plot.js';

const MINUTE_MS = 60_000;

/**
 * The members of an interval that every plot of traffic needs.
 *
 * @typedef {object} Interval
 * @property {string} at
 * @property {number} seconds
 * @property {number} requests
 * @property {number | null} p50_ms
 * @property {number | null} p95_ms
 * @property {number | null} p99_ms
 */

/** Three plots of one time range: requests, latency, and the errors of the view. */
export class TrafficPlots {
  #range;
  #rate;
  #latency;
  #errors;

  /**
   * @param {string} range the id of the time range
   * @param {{ rate: string, latency: string, errors: string }} figures their ids
   * @param {() => void} onChange called when the reader selects another time range
   */
  constructor(range, { rate, latency, errors }, onChange) {
    this.#range = byId(range);
    this.#range.addEventListener('change', onChange);
    this.#rate = new Plot(byId(rate), decimal);
    this.#latency = new Plot(byId(latency), duration);
    this.#errors = new Plot(byId(errors), decimal);
  }

  /** The length of the selected time range. */
  get minutes() {
    return Number(this.#range.value);
  }

  /**
   * Shows the intervals in the selected time range, and returns them.
   *
   * @template {Interval} Kind
   * @param {readonly Kind[]} all oldest first
   * @param {Record<string, (interval: Kind) => number>} errors the count of an interval, for each line of the third plot
   */
  show(all, errors) {
    const last = all.at(-1);
    const startMs = last === undefined ? 0 : new Date(last.at).getTime() - this.minutes * MINUTE_MS;
    const intervals = all.filter(({ at }) => new Date(at).getTime() > startMs);
    const times = intervals.map(({ at }) => new Date(at).getTime());
    const rateLines = (/** @type {Record<string, (interval: Kind) => number>} */ counts) =>
      Object.entries(counts).map(([name, count]) => ({
        name,
        values: intervals.map((interval) => perSecond(interval, count(interval))),
      }));
    this.#rate.show({ times, lines: rateLines({ all: ({ requests }) => requests }) });
    this.#latency.show({
      times,
      lines: [
        { name: 'p50', values: intervals.map(({ p50_ms }) => p50_ms) },
        { name: 'p95', values: intervals.map(({ p95_ms }) => p95_ms) },
        { name: 'p99', values: intervals.map(({ p99_ms }) => p99_ms) },
      ],
    });
    this.#errors.show({ times, lines: rateLines(errors) });
    return intervals;
  }
}

/**
 * @param {Pick<Interval, 'seconds'>} interval
 * @param {number} count
 */
export function perSecond({ seconds }, count) {
  return seconds === 0 ? 0 : count / seconds;
}
