import { parseArgs } from 'node:util';
import { formatProblems, formatRoutes } from './format.ts';
import { DEFAULT_MANIFEST, loadFile } from './manifest-file.ts';
import { UsageError, type Verb } from './terminal.ts';

export const routes: Verb = {
  usage: 'signing-gateway routes [FILE]',
  examples: ['signing-gateway routes', 'signing-gateway routes gateway.yaml | grep public'],
  async run({ args, env, out, err, outColour, errColour }) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    if (positionals.length > 1) throw new UsageError('routes takes one file');
    const { plan, problems, text } = loadFile(positionals[0] ?? DEFAULT_MANIFEST, env);
    if (plan === undefined) {
      err(formatProblems(problems, text, errColour));
      return 1;
    }
    out(formatRoutes(plan.routes, outColour));
    return 0;
  },
};
