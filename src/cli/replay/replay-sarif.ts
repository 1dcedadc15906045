import type { Document } from '../../engine/manifest/document.ts';
import type { FindingLocation } from '../../engine/problem/finding.ts';
import { pluralize } from '../../report/text.ts';
import { CHANGE_KINDS, type ChangeKind } from '../../traffic/compare-outcomes.ts';
import { callersText, decisionText } from '../candidate/candidate-text.ts';
import { toJson } from '../lint/reporters/lint-report.ts';
import { escapeLinks, physicalLocationOf, SARIF_LEVELS, SARIF_ROOT, SARIF_SCHEMA } from '../lint/reporters/sarif.ts';
import { version } from '../version.ts';
import type { ReplayResult } from './replay-formats.ts';
import type { ReplayGroup } from './replay-summary.ts';

const SEVERITIES = {
  'newly-refused': 'error',
  'newly-allowed': 'error',
  'other-route': 'warning',
  'other-upstream': 'warning',
  'other-status': 'warning',
  'other-message': 'info',
} as const satisfies Record<ChangeKind, keyof typeof SARIF_LEVELS>;

const KINDS = Object.keys(CHANGE_KINDS) as ChangeKind[];

/** Formats SARIF 2.1.0 (OASIS) for code scanning: a result for each group, at the route in the new manifest. */
export function formatReplaySarif({ summary, document }: ReplayResult): string {
  const rules = KINDS.map((id) => ({ id, shortDescription: { text: CHANGE_KINDS[id] } }));
  return toJson({
    version: '2.1.0',
    $schema: SARIF_SCHEMA,
    runs: [
      {
        tool: { driver: { name: 'signing-gateway replay', semanticVersion: version, rules } },
        originalUriBaseIds: { [SARIF_ROOT]: { description: { text: 'the folder that replay ran in' } } },
        columnKind: 'utf16CodeUnits',
        results: summary.groups.map((group) => resultOf(group, document)),
      },
    ],
  });
}

function resultOf(group: ReplayGroup, document: Document): object {
  const { kind, from, to, requests, callers, lines } = group;
  const text = `${pluralize(requests, 'request')} of ${callersText(callers)}: ${decisionText(from)}, now ${decisionText(to)}; see ${lines.join(', ')}`;
  const where = locationOf(to.route ?? from.route, document);
  const location = physicalLocationOf(document.fileOf(where), document.locate(where));
  return {
    ruleId: kind,
    ruleIndex: KINDS.indexOf(kind),
    level: SARIF_LEVELS[SEVERITIES[kind]],
    message: { text: escapeLinks(text) },
    locations: [{ physicalLocation: location }],
  };
}

/** Returns the location of a route; that of all routes if the manifest does not have it. */
function locationOf(id: string | null, document: Document): FindingLocation {
  const { routes } = document.value as { readonly routes: readonly { readonly id?: unknown }[] };
  const index = routes.findIndex((route) => route.id === id);
  return index === -1 ? { path: ['routes'], at: 'key' } : { path: ['routes', index, 'id'], at: 'value' };
}
