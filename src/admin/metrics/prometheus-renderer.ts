import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import type { AdminContext } from '../admin-endpoint.ts';
import { METRICS } from './gateway-metrics.ts';
import { exportedName, type Metric, type Sample } from './metric.ts';

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
    yield metricHeader(metric);
    const series = { name: exportedName(metric.name), labels: undefined, list: '' };
    for (const sample of metric.collect(context)) yield sampleLine(series, sample);
    yield '\n';
  }
  yield processMetrics;
}

function metricHeader({ name, type, help }: Metric): string {
  const exported = exportedName(name);
  return `# HELP ${exported} ${escapeText(help)}\n# TYPE ${exported} ${type}\n`;
}

/** The name of a metric, and its last labels as text: the samples of a histogram share them. */
interface SeriesText {
  readonly name: string;
  labels: Sample['labels'] | undefined;
  list: string;
}

function sampleLine(series: SeriesText, { suffix, labels, le, value }: Sample): string {
  if (labels !== series.labels) {
    series.labels = labels;
    series.list = labelList(labels);
  }
  const name = suffix === undefined ? series.name : series.name + suffix;
  const { list } = series;
  if (le !== undefined) return `${name}{${list}${list === '' ? '' : ','}le="${le}"} ${value}\n`;
  return list === '' ? `${name} ${value}\n` : `${name}{${list}} ${value}\n`;
}

function labelList(labels: Sample['labels']): string {
  let list = '';
  for (const label in labels)
    list += `${list === '' ? '' : ','}${label}="${escapeText(labels[label] as string, true)}"`;
  return list;
}

/** Escapes a text for the Prometheus text format. Most texts need no escapes, so test first. */
function escapeText(text: string, isLabel = false): string {
  if (!/["\\\n]/.test(text)) return text;
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isLabel ? plain.replaceAll('"', '\\"') : plain;
}
