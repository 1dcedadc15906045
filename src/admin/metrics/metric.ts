import {
  BUCKET_BOUNDS_MS,
  type LatencyHistogram,
  type LatencyPhase,
  NO_ROUTE,
} from '../../engine/gateway/telemetry/route-metrics.ts';
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

export function gauge(name: string, help: string, read: (context: AdminContext) => number): Metric {
  return { name, type: 'gauge', help, labels: [], collect: (context) => [{ labels: {}, value: read(context) }] };
}

export function counter(name: string, help: string, read: (context: AdminContext) => number): Metric {
  return { ...gauge(name, help, read), type: 'counter' };
}

/** Returns a metric with one label. @param read the values by the value of the label */
export function gaugeBy(label: string, name: string, help: string, read: ValuesByLabel): Metric {
  return {
    name,
    type: 'gauge',
    help,
    labels: [label],
    *collect(context) {
      for (const [key, value] of read(context)) yield { labels: { [label]: key }, value };
    },
  };
}

type ValuesByLabel = (context: AdminContext) => Iterable<readonly [string, number]>;

/** Returns a counter with one label, as `gaugeBy` returns a gauge. */
export function counterBy(label: string, name: string, help: string, read: ValuesByLabel): Metric {
  return { ...gaugeBy(label, name, help, read), type: 'counter' };
}

export function upstreamMetric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (upstream: UpstreamStatus) => number,
): Metric {
  const metric = gaugeBy('upstream', name, help, ({ gateway }) =>
    gateway.upstreams.map((upstream) => [upstream.id, read(upstream)]),
  );
  return { ...metric, type };
}

type UpstreamStatus = AdminContext['gateway']['upstreams'][number];
type EndpointStatus = UpstreamStatus['endpoints'][number];

export function endpointMetric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (endpoint: EndpointStatus) => number,
): Metric {
  const collect = ({ gateway }: AdminContext) =>
    gateway.upstreams.flatMap(({ id, endpoints }) =>
      endpoints.map((endpoint) => ({ labels: { upstream: id, endpoint: endpoint.url }, value: read(endpoint) })),
    );
  return { name, type, help, labels: ['upstream', 'endpoint'], collect };
}

/** Returns a metric with one series for each state of an endpoint: 1 for the current one. @param read `null` for no series */
export function endpointStates(
  name: string,
  help: string,
  states: readonly string[],
  read: (endpoint: EndpointStatus) => string | null,
): Metric {
  return {
    name,
    type: 'gauge',
    help,
    labels: ['upstream', 'endpoint', 'state'],
    *collect({ gateway }) {
      for (const { id, endpoints } of gateway.upstreams)
        for (const endpoint of endpoints) {
          const current = read(endpoint);
          if (current === null) continue;
          for (const state of states)
            yield { labels: { upstream: id, endpoint: endpoint.url, state }, value: Number(state === current) };
        }
    },
  };
}

/** Returns the histogram of the total time of requests, by route. */
export function routeDurations(name: string, help: string): Metric {
  return {
    name,
    type: 'histogram',
    help,
    labels: ['route'],
    *collect({ gateway }) {
      for (const [route, metrics] of gateway.metrics.routes)
        yield* histogramSamples({ route }, metrics.histogram('total'));
    },
  };
}

/** Returns the histogram of one phase of requests, by upstream. By route it would have three times as many series. */
export function upstreamDurations(phase: Exclude<LatencyPhase, 'total'>, name: string, help: string): Metric {
  return {
    name,
    type: 'histogram',
    help,
    labels: ['upstream'],
    *collect({ gateway }) {
      const upstreams = new Map(gateway.plan.routes.map(({ id, upstream }) => [id, upstream.id]));
      const sums = new Map<string, LatencyHistogram>();
      for (const [route, metrics] of gateway.metrics.routes) {
        const upstream = upstreams.get(route) ?? NO_ROUTE;
        sums.set(upstream, addHistograms(sums.get(upstream), metrics.histogram(phase)));
      }
      for (const [upstream, sum] of sums) yield* histogramSamples({ upstream }, sum);
    },
  };
}

function addHistograms(one: LatencyHistogram | undefined, other: LatencyHistogram): LatencyHistogram {
  if (one === undefined) return other;
  return {
    counts: one.counts.map((count, index) => count + (other.counts[index] ?? 0)),
    sumMs: one.sumMs + other.sumMs,
  };
}

/** Returns the histogram of DNS lookups. */
export function lookupDurations(name: string, help: string): Metric {
  const collect = ({ gateway, workers }: AdminContext) => {
    const { buckets, sumMs } = workers.telemetry.totals.dns;
    return histogramSamples({}, { counts: buckets, sumMs }, bucketLabels(gateway.resolver.counts.boundsMs));
  };
  return { name, type: 'histogram', help, labels: [], collect };
}

const BUCKETS = bucketLabels(BUCKET_BOUNDS_MS);

/** Returns the values of the label `le`. */
function bucketLabels(boundsMs: readonly number[]): string[] {
  return [...boundsMs.map((bound) => String(bound / 1_000)), '+Inf'];
}

function* histogramSamples(
  labels: Readonly<Record<string, string>>,
  { counts, sumMs }: LatencyHistogram,
  buckets = BUCKETS,
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
