import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { BUCKET_BOUNDS_MS } from '../../engine/gateway/telemetry/request-counters.ts';
import type { AdminContext } from '../admin-endpoint.ts';
import { METRICS } from './gateway-metrics.ts';
import { exportedName, type Histogram } from './metric.ts';

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

const OMITTED_METRICS = [
  // The library counts them by iterating over every connection; the gateway has its own counters.
  ...['resources', 'handles', 'requests'].flatMap((kind) => [`nodejs_active_${kind}`, `nodejs_active_${kind}_total`]),
  // The library reads the list of descriptors on the serving thread; `DescriptorMonitor` counts them without the list.
  'process_open_fds',
  // OpenMetrics does not allow the type of a metric in its name.
  'nodejs_eventloop_utilization_summary',
  'nodejs_eventloop_utilization_histogram',
];

/** The metrics of the process: processor time, memory, event loop delay and garbage collection. The library measures them from now on. */
const PROCESS_METRICS = new Registry();
collectDefaultMetrics({ register: PROCESS_METRICS });
for (const name of OMITTED_METRICS) PROCESS_METRICS.removeSingleMetric(name);

/** Renders all metrics in the Prometheus text format, in chunks. The gateway keeps its own counters, which each scrape reads. */
export async function renderMetrics(context: AdminContext): Promise<Generator<string>> {
  return formatMetrics(context, await PROCESS_METRICS.metrics());
}

function* formatMetrics(context: AdminContext, processMetrics: string): Generator<string> {
  for (const metric of METRICS) {
    const name = exportedName(metric.name);
    const restarts = metric.type === 'counter' && metric.labels.some((label) => RELOADED.has(label));
    yield `# HELP ${name} ${escapeText(metric.help)}\n# TYPE ${name} ${metric.type}\n`;
    for (const series of metric.read(context)) {
      const labels = metric.labels.map((label, index) => `${label}="${escapeText(series[index] as string, true)}"`);
      const value = series.at(-1) as number | Histogram;
      if (typeof value !== 'number') yield histogramLines(name, labels, value);
      else yield line(name, labels.join(), restarts ? continueCount(context, name + labels, value) : value);
    }
    yield '\n';
  }
  yield processMetrics;
}

/** The labels of things whose counts begin at 0 again when a reload changes them. */
const RELOADED: ReadonlySet<string> = new Set(['upstream', 'store', 'issuer']);

/** Adds the counts from before such reloads: a counter of Prometheus never falls while its process runs. */
function continueCount({ adminMetrics: { counts } }: AdminContext, series: string, value: number): number {
  const { latest, earlier } = counts.get(series) ?? { latest: 0, earlier: 0 };
  const all = value < latest ? earlier + latest : earlier;
  counts.set(series, { latest: value, earlier: all });
  return all + value;
}

function histogramLines(name: string, labels: readonly string[], { counts, sumMs, boundsMs }: Histogram): string {
  const bounds = boundsMs ?? BUCKET_BOUNDS_MS;
  const list = labels.join();
  const prefix = labels.map((label) => `${label},`).join('');
  let below = 0;
  let text = '';
  for (const [index, count] of counts.entries()) {
    below += count;
    const le = index < bounds.length ? (bounds[index] as number) / 1_000 : '+Inf';
    // Omit the empty buckets below the shortest request, but not those above the longest one: sums over routes need them.
    if (below > 0) text += line(`${name}_bucket`, `${prefix}le="${le}"`, below);
  }
  return text + line(`${name}_sum`, list, sumMs / 1_000) + line(`${name}_count`, list, below);
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;
}

/** Escapes a text for the Prometheus text format. Most texts need no escapes, so test first. */
function escapeText(text: string, isLabel = false): string {
  if (!/["\\\n]/.test(text)) return text;
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isLabel ? plain.replaceAll('"', '\\"') : plain;
}
