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

/** Creates the plots of requests, latency and errors in the elements with these ids. Calls `onChange` when the reader selects a range. */
export function createTrafficPlots(
  rangeId: string,
  ids: { rate: string; latency: string; errors: string },
  onChange: () => void,
) {
  const range = byId(rangeId);
  range.addEventListener('change', onChange);
  const rate = new Plot(byId(ids.rate), decimal);
  const latency = new Plot(byId(ids.latency), duration);
  const errors = new Plot(byId(ids.errors), decimal);
  const minutes = () => Number(range.value);
  return { minutes, show };

  /** Shows those of all intervals, oldest first, that are in the range, with a line of the third plot for each count. Returns them. */
  function show<Kind extends Interval>(all: readonly Kind[], errorCounts: Record<string, (interval: Kind) => number>) {
    const last = all.at(-1);
    const startMs = last === undefined ? 0 : new Date(last.at).getTime() - minutes() * MINUTE_MS;
    const intervals = all.filter(({ at }) => new Date(at).getTime() > startMs);
    const times = intervals.map(({ at }) => new Date(at).getTime());
    const linesOf = (values: Record<string, (interval: Kind) => number | null>) =>
      Object.entries(values).map(([name, read]) => ({ name, values: intervals.map(read) }));
    const rateOf = (count: (interval: Kind) => number) => (interval: Kind) => perSecond(interval, count(interval));
    const errorRates = Object.entries(errorCounts).map(([name, count]) => [name, rateOf(count)] as const);
    rate.show({ times, lines: linesOf({ all: rateOf(({ requests }) => requests) }) });
    const quantiles = linesOf({
      p50: ({ p50_ms }) => p50_ms,
      p95: ({ p95_ms }) => p95_ms,
      p99: ({ p99_ms }) => p99_ms,
    });
    latency.show({ times, lines: quantiles });
    errors.show({ times, lines: linesOf(Object.fromEntries(errorRates)) });
    return intervals;
  }
}

export function perSecond({ seconds }: Pick<Interval, 'seconds'>, count: number) {
  return seconds === 0 ? 0 : count / seconds;
}
