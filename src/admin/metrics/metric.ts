import type { LatencyHistogram } from '../../engine/gateway/telemetry/request-counters.ts';
import type { AdminContext } from '../admin-endpoint.ts';

/** The values of the labels of a series, and then its value. */
type Series<Value> = readonly [...labels: string[], value: Value];

export interface Histogram extends LatencyHistogram {
  /** The upper bounds of the buckets, if they are not those of requests. */
  readonly boundsMs?: readonly number[];
}

/** The metrics of one subject by their names, without the prefix `signing_gateway_`: see `exportedName`. */
export type MetricTable = Readonly<Record<string, MetricEntry>>;

export interface MetricEntry {
  readonly labels: readonly string[];
  readonly help: string;
  /** Returns the series at each scrape. */
  readonly read: (context: AdminContext) => Iterable<Series<number | Histogram>>;
  /** By default a metric is a counter if its name ends with `_total`, or else a gauge. */
  readonly type?: 'histogram';
}

const METRIC_PREFIX = 'signing_gateway_';

/** Metrics of the process and of Node have the same names in every Node program, so that any dashboard for Node shows them. */
export function exportedName(name: string): string {
  return /^(?:process|nodejs)_/.test(name) ? name : METRIC_PREFIX + name;
}

/** Returns a metric with one series. */
export function metric(help: string, read: (context: AdminContext) => number): MetricEntry {
  return metricBy([], help, (context) => [[read(context)]]);
}

export function metricBy(
  labels: readonly string[],
  help: string,
  read: (context: AdminContext) => Iterable<Series<number>>,
): MetricEntry {
  return { labels, help, read };
}

export function histogram(
  labels: readonly string[],
  help: string,
  read: (context: AdminContext) => Iterable<Series<Histogram>>,
): MetricEntry {
  return { labels, help, read, type: 'histogram' };
}
