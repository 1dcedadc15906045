import { routeSummary } from '../../admin/route-summary.ts';
import { formatMethods } from '../../engine/http1/http-methods.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { Auth } from '../../engine/tokens/verifier.ts';
import { accessMatrix } from '../../prove/access-matrix.ts';
import { toJson } from '../../report/report.ts';
import { loadRevision } from '../diff/revision.ts';
import { loadPlanned } from '../manifest-file.ts';
import { MANIFEST_OPTIONS, namedManifest } from '../named-manifest.ts';
import { formatOption, parseFormat, valueOption } from '../parse-arguments.ts';
import { defineVerb, UsageError } from '../terminal.ts';
import { ACCESS_FORMATS, formatColumns } from './access-formats.ts';

export const verb = defineVerb({
  usage: 'signing-gateway routes [FILE] [--json | --access [--format FORMAT] [--from OLD]]',
  options: {
    ...MANIFEST_OPTIONS,
    json: { type: 'boolean', summary: 'print the routes as JSON' },
    access: { type: 'boolean', summary: 'print who may send which requests, for people who do not read the manifest' },
    format: formatOption(ACCESS_FORMATS, 'the format of --access'),
    from: valueOption(
      'OLD',
      'print only the lines of --access that differ from those of this manifest, a file or REVISION:PATH',
    ),
  },
  examples: [
    'signing-gateway routes',
    'signing-gateway routes gateway.yaml | grep public',
    'signing-gateway routes --json | jq -r .routes[].id',
    'signing-gateway routes --access --format html > access.html',
    'signing-gateway routes --access --from main:gateway.yaml -f markdown > comment.md',
  ],
  async run(terminal, { values, positionals }) {
    const { out, outColour } = terminal;
    if (values.json && values.access)
      throw new UsageError('--json and --access exclude each other; remove one of them');
    const { from } = values;
    if ((values.format ?? from) !== undefined && !values.access)
      throw new UsageError('--format and --from are options of --access; add it');
    const format = parseFormat(ACCESS_FORMATS, values.format);
    if (from !== undefined && format === 'html') throw new UsageError('--from has no format html; choose another one');
    const file = namedManifest(values, positionals);
    const loaded = loadPlanned(file, terminal);
    const { plan } = loaded;
    if (values.access) {
      const old = from === undefined ? undefined : loadRevision(from, terminal, 1, plan);
      const report = { file, hash: plan.hash, rows: accessMatrix(loaded), old: old && accessMatrix(old.planned) };
      out(ACCESS_FORMATS[format](report, outColour));
    } else {
      const { hash, routes } = plan;
      out(values.json ? toJson({ hash, routes: routes.map(routeSummary) }) : formatRoutes(plan, outColour));
    }
    return 0;
  },
});

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
  return formatColumns([['METHODS', 'PATH', 'ACCESS', 'UPSTREAM', 'RULES', 'ID'], ...rows], colour);
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
