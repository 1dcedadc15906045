import { BUCKET_BOUNDS_MS, type LatencyHistogram } from '../../engine/gateway/telemetry/route-metrics.ts';
import type { AdminContext } from '../admin-endpoint.ts';

/** A value of a metric, with its labels. */
export interface Sample {
  /** Set for the buckets, the sum and the count of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  /** Consecutive samples that share this object are written faster. */
  readonly labels: Readonly<Record<string, string>>;
  /** The upper bound of a bucket. */
  readonly le?: string;
  readonly value: number;
}

/** A metric of the gateway. `collect` reads the values at each scrape. */
export interface Metric {
  /** Without the prefix `signing_gateway_`, see `exportedName`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly collect: (context: AdminContext) => Iterable<Sample>;
}

const METRIC_PREFIX = 'signing_gateway_';

/** Metrics of the process and of Node have the same names in every Node program, so that any dashboard for Node shows them. */
export function exportedName(name: string): string {
  return /^(?:process|nodejs)_/.test(name) ? name : METRIC_PREFIX + name;
}

/** Returns a metric with one series. It is a counter if its name ends with `_total`, or else a gauge. */
export function metric(name: string, help: string, read: (context: AdminContext) => number): Metric {
  return metricBy([], name, help, (context) => [[read(context)]]);
}

/** Returns a metric with labels. @param read yields the values of the labels, and then the value of each series */
export function metricBy(
  labels: readonly string[],
  name: string,
  help: string,
  read: (context: AdminContext) => Iterable<readonly [...labels: string[], value: number]>,
): Metric {
  return {
    name,
    type: name.endsWith('_total') ? 'counter' : 'gauge',
    help,
    labels,
    *collect(context) {
      for (const row of read(context)) {
        const entries = labels.map((label, index) => [label, row[index] as string]);
        yield { labels: Object.fromEntries(entries), value: row.at(-1) as number };
      }
    },
  };
}

/** Returns a histogram with a label, or without one. @param read the counts, each with the value of the label */
export function histogram(
  label: string | undefined,
  name: string,
  help: string,
  read: (context: AdminContext) => Iterable<readonly [value: string, counts: LatencyHistogram & Partial<Bounds>]>,
): Metric {
  return {
    name,
    type: 'histogram',
    help,
    labels: label === undefined ? [] : [label],
    *collect(context) {
      for (const [value, counts] of read(context))
        yield* histogramSamples(
          label === undefined ? {} : { [label]: value },
          counts,
          counts.boundsMs === undefined ? BUCKETS : bucketLabels(counts.boundsMs),
        );
    },
  };
}

interface Bounds {
  readonly boundsMs: readonly number[];
}

const BUCKETS = bucketLabels(BUCKET_BOUNDS_MS);

/** Returns the values of the label `le`. */
function bucketLabels(boundsMs: readonly number[]): string[] {
  return [...boundsMs.map((bound) => String(bound / 1_000)), '+Inf'];
}

function* histogramSamples(
  labels: Readonly<Record<string, string>>,
  { counts, sumMs }: LatencyHistogram,
  buckets: readonly string[],
): Generator<Sample> {
  let below = 0;
  for (let index = 0; index < counts.length; index += 1) {
    below += counts[index] as number;
    // Omit the empty buckets below the shortest request, but not those above the longest one: sums over routes need them.
    if (below > 0) yield { suffix: '_bucket', labels, le: buckets[index] as string, value: below };
  }
  yield { suffix: '_sum', labels, value: sumMs / 1_000 };
  yield { suffix: '_count', labels, value: below };
}
