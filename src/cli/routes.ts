import { formatProblems, formatRoutes } from './format.ts';
import { loadFile, MANIFEST_OPTIONS, parseSingleManifestArguments } from './manifest-file.ts';
import type { Verb } from './terminal.ts';

export const routes: Verb = {
  usage: 'signing-gateway routes [FILE]',
  options: MANIFEST_OPTIONS,
  examples: ['signing-gateway routes', 'signing-gateway routes gateway.yaml | grep public'],
  async run({ args, env, out, err, outColour, errColour }) {
    const { file } = parseSingleManifestArguments(args, {});
    const { plan, problems, sources } = loadFile(file, env);
    if (plan === undefined) {
      err(formatProblems(problems, sources, errColour));
      return 1;
    }
    out(formatRoutes(plan, outColour));
    return 0;
  },
};
