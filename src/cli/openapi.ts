import { streamOpenApi } from '../openapi/export/stream-openapi.ts';
import { loadPlanned } from './manifest-file.ts';
import { MANIFEST_OPTIONS, namedManifest } from './named-manifest.ts';
import { valueOption } from './parse-arguments.ts';
import { defineVerb } from './terminal.ts';
import { version } from './version.ts';
import { writeFileAtomic } from './write-file-atomic.ts';

export const verb = defineVerb({
  usage: 'signing-gateway openapi [FILE] [-o FILE]',
  options: {
    ...MANIFEST_OPTIONS,
    output: valueOption('FILE', 'write to this file instead of standard output', { short: 'o' }),
  },
  examples: ['signing-gateway openapi -o openapi.json', 'signing-gateway openapi deploy/gateway.yaml | jq .paths'],
  async run(terminal, { values, positionals }) {
    const loaded = loadPlanned(namedManifest(values, positionals), terminal);
    const text = [...streamOpenApi(loaded, version)].join('');
    if (values.output === undefined) terminal.out(text);
    else writeFileAtomic(values.output, text);
    return 0;
  },
});
