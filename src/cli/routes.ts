import { routeSummary } from '../admin/route-summary.ts';
import { formatProblems, formatRoutes } from '../report/text.ts';
import { loadFile, MANIFEST_OPTIONS, parseSingleManifestArguments } from './manifest-file.ts';
import type { Options, Verb } from './terminal.ts';

const OPTIONS = {
  json: { type: 'boolean', summary: 'print the routes as JSON' },
} as const satisfies Options;

export const routes: Verb = {
  usage: 'signing-gateway routes [FILE] [--json]',
  options: { ...MANIFEST_OPTIONS, ...OPTIONS },
  examples: [
    'signing-gateway routes',
    'signing-gateway routes gateway.yaml | grep public',
    'signing-gateway routes --json | jq -r .routes[].id',
  ],
  async run({ args, env, out, err, outColour, errColour }) {
    const { file, flags } = parseSingleManifestArguments(args, OPTIONS);
    const { plan, problems, sources } = loadFile(file, env);
    if (plan === undefined) {
      err(formatProblems(problems, sources, errColour));
      return 1;
    }
    out(
      flags.has('json')
        ? `${JSON.stringify({ routes: plan.routes.map(routeSummary) }, null, 2)}\n`
        : formatRoutes(plan, outColour),
    );
    return 0;
  },
};
