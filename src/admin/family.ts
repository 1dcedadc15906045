import { BOUNDS_MS, type Histogram, NO_ROUTE, type Span } from '../gateway/meters.ts';
import type { UpstreamStatus } from '../gateway/upstream/live-upstream.ts';
import type { Operated } from './call.ts';

/** A number, and what it is the number of. */
export interface Sample {
  /** Of the buckets, the sum and the count of a histogram; left out: the family's name. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  /** Samples in a row with the same object are written faster. */
  readonly labels: Readonly<Record<string, string>>;
  /** The upper bound of a bucket. */
  readonly le?: string;
  readonly value: number;
}

/** A metric: what is measured, and where the numbers are when they are asked for. */
export interface Family {
  /** Behind `signing_gateway_`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly collect: (operated: Operated) => Iterable<Sample>;
}

export function gauge(name: string, help: string, read: (operated: Operated) => number): Family {
  return { name, type: 'gauge', help, labels: [], collect: (operated) => [{ labels: {}, value: read(operated) }] };
}

export function ofUpstreams(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (upstream: UpstreamStatus) => number,
): Family {
  const collect = ({ gateway }: Operated) =>
    gateway.upstreams.map((upstream) => ({ labels: { upstream: upstream.id }, value: read(upstream) }));
  return { name, type, help, labels: ['upstream'], collect };
}

type TargetStatus = UpstreamStatus['targets'][number];

export function ofTargets(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (target: TargetStatus) => number,
): Family {
  const collect = ({ gateway }: Operated) =>
    gateway.upstreams.flatMap(({ id, targets }) =>
      targets.map((target) => ({ labels: { upstream: id, target: target.url }, value: read(target) })),
    );
  return { name, type, help, labels: ['upstream', 'target'], collect };
}

/** The whole time, by route. */
export function durations(name: string, help: string): Family {
  return {
    name,
    type: 'histogram',
    help,
    labels: ['route'],
    *collect({ gateway }) {
      for (const [route, meter] of gateway.meters.routes) yield* histogram({ route }, meter.histogram('total'));
    },
  };
}

/** A part of it, by upstream: by route, what there is to store would be three times as much. */
export function durationsOf(span: Exclude<Span, 'total'>, name: string, help: string): Family {
  return {
    name,
    type: 'histogram',
    help,
    labels: ['upstream'],
    *collect({ gateway }) {
      const upstreams = new Map(gateway.plan.routes.map(({ id, upstream }) => [id, upstream.id]));
      const sums = new Map<string, Histogram>();
      for (const [route, meter] of gateway.meters.routes) {
        const upstream = upstreams.get(route) ?? NO_ROUTE;
        sums.set(upstream, sumOf(sums.get(upstream), meter.histogram(span)));
      }
      for (const [upstream, sum] of sums) yield* histogram({ upstream }, sum);
    },
  };
}

function sumOf(one: Histogram | undefined, other: Histogram): Histogram {
  if (one === undefined) return other;
  return {
    counts: one.counts.map((count, index) => count + (other.counts[index] ?? 0)),
    sumMs: one.sumMs + other.sumMs,
  };
}

const BUCKETS = [...BOUNDS_MS.map((bound) => String(bound / 1_000)), '+Inf'];

function* histogram(labels: Readonly<Record<string, string>>, { counts, sumMs }: Histogram): Generator<Sample> {
  let below = 0;
  for (let index = 0; index < counts.length; index += 1) {
    below += counts[index] as number;
    // A bucket that never counted has no series. Those above the longest request have one: sums over routes need them.
    if (below > 0) yield { suffix: '_bucket', labels, le: BUCKETS[index] as string, value: below };
  }
  yield { suffix: '_sum', labels, value: sumMs / 1_000 };
  yield { suffix: '_count', labels, value: below };
}
