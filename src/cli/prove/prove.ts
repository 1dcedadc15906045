import type { Proof } from '../../engine/invariants/prove.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import { printable } from '../../engine/problem/problem.ts';
import { proveQuestion, QuestionError } from '../../prove/question.ts';
import { toJson } from '../../report/report.ts';
import { paint, pluralize } from '../../report/text.ts';
import { loadPlanned } from '../manifest-file.ts';
import { chooseManifest, MANIFEST_OPTIONS } from '../named-manifest.ts';
import { defineVerb, UsageError } from '../terminal.ts';

export const verb = defineVerb({
  usage: "signing-gateway prove 'when CONDITION require REQUIREMENT' [FILE] [--json]",
  options: {
    ...MANIFEST_OPTIONS,
    json: { type: 'boolean', summary: 'print the result as JSON' },
  },
  examples: [
    "signing-gateway prove 'when path: /internal/** require served: false'",
    "signing-gateway prove 'when upstream: identity, method: [POST, PUT] require rateLimit: any' deploy/gateway.yaml",
    "signing-gateway prove 'require access: protected' --json",
  ],
  async run(terminal, { values, positionals }) {
    const { env, out, outColour } = terminal;
    const [question, ...files] = positionals;
    if (question === undefined)
      throw new UsageError("ask a question, for example 'when path: /internal/** require served: false'");
    const loaded = loadPlanned(chooseManifest([...(values.config ?? []), ...files]), terminal, 2);
    const result = resultOf(loaded, ask(loaded, question, env));
    out(values.json ? toJson(result) : formatResult(result, outColour));
    return result.holds ? 0 : 1;
  },
});

function ask(...[planned, question, env]: Parameters<typeof proveQuestion>): Proof {
  try {
    return proveQuestion(planned, question, env);
  } catch (error) {
    if (error instanceof QuestionError) throw new UsageError(`the question is not valid: ${error.message}`);
    throw error;
  }
}

/** Returns the result for one question, as `prove --json` prints it. */
function resultOf({ plan, document }: PlannedManifest, { violations, undecided }: Proof) {
  const describeRoute = (route: PlannedManifest['plan']['routes'][number]) => {
    const location = { path: ['routes', plan.routes.indexOf(route)], at: 'value' } as const;
    return { route: route.id, file: document.fileOf(location), line: document.locate(location).line };
  };
  return {
    // The version of this format. It increases when a member is changed or removed, not when one is added.
    version: 1,
    holds: violations.length === 0 && undecided.length === 0,
    // One request for each route that breaks the requirement.
    requests: violations.map(({ route, witness: { method, path }, member, message }) => ({
      method,
      path,
      ...describeRoute(route),
      // The member of `require`, such as `access`, and the continuation of a sentence about the route: `is public`.
      member,
      message,
    })),
    // The routes for which the search reached its limit.
    undecided: undecided.map(describeRoute),
  };
}

function formatResult({ holds, requests, undecided }: ReturnType<typeof resultOf>, colour: boolean): string {
  if (holds) return `${paint('holds for all requests', 'green', colour)}\n`;
  const broken = requests.map(
    ({ method, path, route, file, line, message }) =>
      `  ${method} ${path} goes to "${route}" (${file}:${line}), which ${message}`,
  );
  const open = undecided.map(
    ({ route, file, line }) => `  not proven for "${route}" (${file}:${line}): too many routes overlap with it`,
  );
  const title = `does not hold for ${pluralize(requests.length + undecided.length, 'route')}:`;
  return `${[paint(title, 'red', colour), ...[...broken, ...open].map(printable)].join('\n')}\n`;
}
