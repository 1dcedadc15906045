import { count, formatProblems, paint } from './format.ts';
import { loadFile, readArguments } from './manifest-file.ts';
import type { Verb } from './terminal.ts';

export const lint: Verb = {
  usage: 'signing-gateway lint [FILE]',
  examples: ['signing-gateway lint', 'signing-gateway lint deploy/gateway.yaml'],
  async run({ args, env, out, err, outColour, errColour }) {
    const { file } = readArguments(args);
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
