import { setImmediate as turn } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import type { Operated } from './call.ts';
import { FAMILIES } from './families.ts';
import type { Family, Sample } from './family.ts';

export const PREFIX = 'signing_gateway_';

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** So many lines are written before requests have their turn: half a millisecond. */
const SLICE_LINES = 500;

/**
 * All metrics as Prometheus reads them. What the gateway counts stays in the gateway, and is read when it is asked for; the
 * library measures the process: its processor time, memory and files, the event loop's delay, collections of garbage.
 */
export function createExposition(operated: Operated): () => Promise<string> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: PREFIX });
  // Each connection would be looked at, and how many there are is known.
  for (const what of ['resources', 'handles', 'requests'])
    for (const suffix of ['', '_total']) registry.removeSingleMetric(`${PREFIX}nodejs_active_${what}${suffix}`);
  return async () => {
    let text = '';
    let lines = 0;
    for (const family of FAMILIES) {
      text += headOf(family);
      for (const sample of family.collect(operated)) {
        text += lineOf(family, sample);
        lines += 1;
        if (lines % SLICE_LINES === 0) await turn();
      }
      text += '\n';
    }
    return text + (await registry.metrics());
  };
}

function headOf({ name, type, help }: Family): string {
  return `# HELP ${PREFIX}${name} ${escaped(help)}\n# TYPE ${PREFIX}${name} ${type}\n`;
}

function lineOf({ name }: Family, { suffix, labels, value }: Sample): string {
  let list = '';
  for (const label in labels) list += `${list === '' ? '' : ','}${label}="${escaped(labels[label] as string, true)}"`;
  return `${PREFIX}${name}${suffix ?? ''}${list === '' ? '' : `{${list}}`} ${value}\n`;
}

/** As the text format has it; most texts hold nothing of the kind. */
function escaped(text: string, isLabel = false): string {
  if (!/["\\\n]/.test(text)) return text;
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isLabel ? plain.replaceAll('"', '\\"') : plain;
}
