import type { Responses } from './api.ts';
import { byId } from './element.ts';
import { decimal, duration } from './format.ts';
import { Plot } from './plot.ts';

const MINUTE_MS = 60_000;

/** The members of an interval that every plot of traffic needs. */
type Interval = Pick<
  Responses['history']['intervals'][number],
  'at' | 'seconds' | 'requests' | 'p50_ms' | 'p95_ms' | 'p99_ms'
>;

/** Three plots of one time range: requests, latency, and the errors of the view. */
export class TrafficPlots {
  #range;
  #rate;
  #latency;
  #errors;

  /** Takes the ids of the elements, and calls `onChange` when the reader selects another time range. */
  constructor(
    range: string,
    { rate, latency, errors }: { rate: string; latency: string; errors: string },
    onChange: () => void,
  ) {
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

  /** Shows the intervals in the selected time range, of those from the oldest on, with a line of the third plot for each count of errors. Returns them. */
  show<Kind extends Interval>(all: readonly Kind[], errors: Record<string, (interval: Kind) => number>) {
    const last = all.at(-1);
    const startMs = last === undefined ? 0 : new Date(last.at).getTime() - this.minutes * MINUTE_MS;
    const intervals = all.filter(({ at }) => new Date(at).getTime() > startMs);
    const times = intervals.map(({ at }) => new Date(at).getTime());
    const rateLines = (counts: Record<string, (interval: Kind) => number>) =>
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

export function perSecond({ seconds }: Pick<Interval, 'seconds'>, count: number) {
  return seconds === 0 ? 0 : count / seconds;
}
