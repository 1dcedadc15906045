import type { LatencyHistogram } from '../../engine/gateway/telemetry/request-counters.ts';
import type { AdminContext } from '../admin-endpoint.ts';

/** The values of the labels of a series, and then its value. */
type Series<Value> = readonly [...labels: string[], value: Value];

export interface Histogram extends LatencyHistogram {
  /** The upper bounds of the buckets, if they are not those of requests. */
  readonly boundsMs?: readonly number[];
}

/** A metric of the gateway. `read` returns its series at each scrape. */
export interface Metric {
  /** Without the prefix `signing_gateway_`, see `exportedName`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: (context: AdminContext) => Iterable<Series<number | Histogram>>;
}

const METRIC_PREFIX = 'signing_gateway_';

/** Metrics of the process and of Node have the same names in every Node program, so that any dashboard for Node shows them. */
export function exportedName(name: string): string {
  return /^(?:process|nodejs)_/.test(name) ? name : METRIC_PREFIX + name;
}

/** Returns a metric with one series. */
export function metric(name: string, help: string, read: (context: AdminContext) => number): Metric {
  return metricBy([], name, help, (context) => [[read(context)]]);
}

/** Returns a metric with labels. It is a counter if its name ends with `_total`, or else a gauge. */
export function metricBy(
  labels: readonly string[],
  name: string,
  help: string,
  read: (context: AdminContext) => Iterable<Series<number>>,
): Metric {
  return { name, type: name.endsWith('_total') ? 'counter' : 'gauge', help, labels, read };
}

export function histogram(
  labels: readonly string[],
  name: string,
  help: string,
  read: (context: AdminContext) => Iterable<Series<Histogram>>,
): Metric {
  return { name, type: 'histogram', help, labels, read };
}
