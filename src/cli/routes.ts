import { routeSummary } from '../admin/route-summary.ts';
import { formatMethods } from '../engine/http1/http-methods.ts';
import type { Plan } from '../engine/plan/plan.ts';
import type { Route } from '../engine/plan/route-definition.ts';
import type { Auth } from '../engine/tokens/verifier.ts';
import { toJson } from '../report/report.ts';
import { paint } from '../report/text.ts';
import { loadPlanned, MANIFEST_OPTIONS, namedManifest } from './manifest-file.ts';
import { parseArguments } from './parse-arguments.ts';
import type { Options, Verb } from './terminal.ts';

const OPTIONS = {
  ...MANIFEST_OPTIONS,
  json: { type: 'boolean', summary: 'print the routes as JSON' },
} as const satisfies Options;

export const verb: Verb = {
  usage: 'signing-gateway routes [FILE] [--json]',
  options: OPTIONS,
  examples: [
    'signing-gateway routes',
    'signing-gateway routes gateway.yaml | grep public',
    'signing-gateway routes --json | jq -r .routes[].id',
  ],
  async run(terminal) {
    const { args, out, outColour } = terminal;
    const { values, positionals } = parseArguments(args, OPTIONS);
    const loaded = loadPlanned(namedManifest(values, positionals), terminal);
    if (loaded === undefined) return 1;
    const { plan } = loaded;
    out(
      values.json ? toJson({ hash: plan.hash, routes: plan.routes.map(routeSummary) }) : formatRoutes(plan, outColour),
    );
    return 0;
  },
};

/** Formats the compiled routes as a table, in the manifest's order. */
function formatRoutes({ routes, auth }: Pick<Plan, 'routes' | 'auth'>, colour: boolean): string {
  const rows = routes.map((route) => [
    formatMethods(route.methods),
    route.path,
    route.access,
    route.upstream?.id ?? `(${route.ownResponse?.status})`,
    rulesOf(route, auth),
    route.id,
  ]);
  const table = [['METHODS', 'PATH', 'ACCESS', 'UPSTREAM', 'RULES', 'ID'], ...rows];
  const widths = table.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(cell.length, widest[index] ?? 0)),
    [],
  );
  const lines = table.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${[paint(lines[0] ?? '', 'bold', colour), ...lines.slice(1)].join('\n')}\n`;
}

function rulesOf(route: Route, auth: Auth | undefined): string {
  const rules = [
    route.auth !== auth && route.auth && `roles=${route.auth.role.redactedRoles.join('|')}`,
    route.login && 'login',
    route.body?.validate && 'schema',
    route.body && !route.body.validate && 'maxBytes',
    route.websocket && 'websocket',
  ].filter(Boolean);
  return rules.join(',') || '-';
}
