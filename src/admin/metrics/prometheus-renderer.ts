import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import type { AdminContext } from '../admin-endpoint.ts';
import { METRICS } from './gateway-metrics.ts';
import type { Metric, Sample } from './metric.ts';

export const METRIC_PREFIX = 'signing_gateway_';

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Metrics of the library that are left out. */
const OMITTED_METRICS = [
  // The library would look at each connection; the gateway counts them already.
  ...['resources', 'handles', 'requests'].flatMap((what) => [`nodejs_active_${what}`, `nodejs_active_${what}_total`]),
  // The library lists all descriptors on the serving thread.
  'process_open_fds',
  // A name must not contain the type of its metric.
  'nodejs_eventloop_utilization_summary',
  'nodejs_eventloop_utilization_histogram',
];

/**
 * All metrics in the text format of Prometheus, in small pieces. The gateway's own counters stay in the gateway and are read
 * when they are requested. The library measures the process: its processor time and memory, the event loop's delay,
 * collections of garbage.
 */
export function createPrometheusRenderer(): (operated: AdminContext) => Promise<Generator<string>> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: METRIC_PREFIX });
  for (const name of OMITTED_METRICS) registry.removeSingleMetric(METRIC_PREFIX + name);
  return async (operated) => renderMetrics(operated, await registry.metrics());
}

function* renderMetrics(operated: AdminContext, processMetrics: string): Generator<string> {
  for (const family of METRICS) {
    yield metricHeader(family);
    const names = { own: METRIC_PREFIX + family.name, labels: undefined, list: '' };
    for (const sample of family.collect(operated)) yield sampleLine(names, sample);
    yield '\n';
  }
  yield processMetrics;
}

function metricHeader({ name, type, help }: Metric): string {
  return `# HELP ${METRIC_PREFIX}${name} ${escapeText(help)}\n# TYPE ${METRIC_PREFIX}${name} ${type}\n`;
}

/** The samples of a histogram share their labels: these are written once for all of them. */
interface SampleNames {
  readonly own: string;
  labels: Sample['labels'] | undefined;
  list: string;
}

function sampleLine(names: SampleNames, { suffix, labels, le, value }: Sample): string {
  if (labels !== names.labels) {
    names.labels = labels;
    names.list = labelList(labels);
  }
  const own = suffix === undefined ? names.own : names.own + suffix;
  const { list } = names;
  if (le !== undefined) return `${own}{${list}${list === '' ? '' : ','}le="${le}"} ${value}\n`;
  return list === '' ? `${own} ${value}\n` : `${own}{${list}} ${value}\n`;
}

function labelList(labels: Sample['labels']): string {
  let list = '';
  for (const label in labels)
    list += `${list === '' ? '' : ','}${label}="${escapeText(labels[label] as string, true)}"`;
  return list;
}

/** As the text format has it; most texts hold nothing of the kind. */
function escapeText(text: string, isLabel = false): string {
  if (!/["\\\n]/.test(text)) return text;
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isLabel ? plain.replaceAll('"', '\\"') : plain;
}
