import { streamOpenApi } from '../openapi/export/stream-openapi.ts';
import { loadPlanned } from './manifest-file.ts';
import { MANIFEST_OPTIONS, namedManifest } from './named-manifest.ts';
import { parseArguments, valueOption } from './parse-arguments.ts';
import type { Options, Verb } from './terminal.ts';
import { version } from './version.ts';
import { writeFileAtomic } from './write-file-atomic.ts';

const OPTIONS = {
  ...MANIFEST_OPTIONS,
  output: valueOption('FILE', 'write to this file instead of standard output', { short: 'o' }),
} as const satisfies Options;

export const verb: Verb = {
  usage: 'signing-gateway openapi [FILE] [-o FILE]',
  options: OPTIONS,
  examples: ['signing-gateway openapi -o openapi.json', 'signing-gateway openapi deploy/gateway.yaml | jq .paths'],
  async run(terminal) {
    const { values, positionals } = parseArguments(terminal.args, OPTIONS);
    const loaded = loadPlanned(namedManifest(values, positionals), terminal);
    if (loaded === undefined) return 1;
    const text = [...streamOpenApi(loaded, version)].join('');
    if (values.output === undefined) terminal.out(text);
    else writeFileAtomic(values.output, text);
    return 0;
  },
};
