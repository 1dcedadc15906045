import { parseArgs } from 'node:util';
import { count, formatProblems, paint } from './format.ts';
import { DEFAULT_MANIFEST, loadFile } from './manifest-file.ts';
import { UsageError, type Verb } from './terminal.ts';

export const lint: Verb = {
  usage: 'signing-gateway lint [FILE]',
  examples: ['signing-gateway lint', 'signing-gateway lint deploy/gateway.yaml'],
  async run({ args, env, out, err, outColour, errColour }) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    if (positionals.length > 1) throw new UsageError('lint takes one file');
    const file = positionals[0] ?? DEFAULT_MANIFEST;
    const { plan, problems, text } = loadFile(file, env);
    out(formatProblems(problems, text, outColour));
    if (plan === undefined) {
      err(`${paint(count(problems.length, 'problem'), 'red', errColour)} in ${file}\n`);
      return 1;
    }
    err(`${paint('no problems', 'green', errColour)} in ${file}: ${count(plan.routes.length, 'route')}\n`);
    return 0;
  },
};
