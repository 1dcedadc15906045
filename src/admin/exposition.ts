import { collectDefaultMetrics, type Metric, Registry } from '@prometheus-io/client';
import type { Operated } from './call.ts';
import { FAMILIES } from './families.ts';
import type { Family } from './family.ts';

export const PREFIX = 'signing_gateway_';

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/**
 * All metrics as Prometheus reads them. The library measures the process and writes the text; what the gateway counts
 * stays in the gateway, and is read when it is asked for.
 */
export function createExposition(operated: Operated): () => Promise<string> {
  const registry = new Registry();
  for (const family of FAMILIES) registry.registerMetric(readingOf(family, operated));
  // Of the process and the engine: processor time, memory, files, the event loop's delay, collections of garbage.
  collectDefaultMetrics({ register: registry, prefix: PREFIX });
  // Each connection would be looked at, and how many there are is known.
  for (const what of ['resources', 'handles', 'requests'])
    for (const suffix of ['', '_total']) registry.removeSingleMetric(`${PREFIX}nodejs_active_${what}${suffix}`);
  return () => registry.metrics();
}

/** What the library asks of a metric when it writes. */
function readingOf(family: Family, operated: Operated): Metric {
  const { help, type } = family;
  const name = PREFIX + family.name;
  const get = () => ({
    name,
    help,
    type,
    values: [...family.collect(operated)].map(({ suffix = '', ...sample }) => ({
      ...sample,
      metricName: name + suffix,
    })),
  });
  return { name, help, type, get } as unknown as Metric;
}
