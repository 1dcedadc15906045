import type { LintReport } from '../../../src/cli/lint/lint-formats.ts';
import { load } from '../../../src/engine/load.ts';
import type { Severity } from '../../../src/engine/problem/finding.ts';
import type { Problem } from '../../../src/engine/problem/problem.ts';

/** Creates a report of these problems. `texts` has the text of each file that they name. */
export function reportOf(problems: readonly Problem[], texts: Readonly<Record<string, string>>): LintReport {
  const sources = Object.entries(texts).map(([path, text]) => ({ path, text }));
  const rules = new Map([
    ['upstream-unknown', { rationale: 'A route to an upstream that nobody has named cannot be served.' }],
  ]);
  return { sources, problems, failOn: 'error', maxProblems: 50, rules, version: '1.2.3' };
}

export function problemOf(file: string, message: string, more: Partial<Problem> = {}): Problem {
  const range = { line: 2, column: 3, endLine: 2, endColumn: 7 };
  return { rule: 'route-id', severity: 'error', file, range, message, ...more };
}

const BROKEN = `version: 1
upstreams:
  contacts: { url: http://127.0.0.1:7002 }
routes:
  - id: contacts
    method: GET
    path: /api/contacts
    upstream: contact
    access: public
  - id: contacts
    method: POST
    path: /api/contacts
    upstream: contacts
    access: public
`;

function broken(): LintReport {
  const { problems } = load({ path: 'gateway.yaml', text: BROKEN }, { env: {}, readFile: () => '' });
  return reportOf(problems, { 'gateway.yaml': BROKEN });
}

/** Returns a report on three manifests, one of them without problems. There is one problem of each severity, and one spans two lines. The documentation has an address. */
function several(): LintReport {
  const texts = { 'a/gateway.yaml': 'one\ntwo three\n', 'b/gateway.yaml': 'clean\n', 'c/gateway.yaml': 'four\nfive\n' };
  const at = (severity: Severity, file: string, line: number) =>
    problemOf(file, `${severity} here`, { severity, range: { line, column: 1, endLine: 2, endColumn: 4 } });
  const witness = { method: 'GET', path: '/a/x', route: 'contacts' };
  const problems = [
    { ...at('warning', 'a/gateway.yaml', 2), witness },
    at('error', 'a/gateway.yaml', 2),
    at('info', 'c/gateway.yaml', 1),
  ];
  return reportOf(problems, texts);
}

export const HOSTILE_FILE = 'od d,na:me%0A\n::error::\u001b[31m|`<b>"é]]>.yaml';
export const HOSTILE_MESSAGE =
  'a "quoted" & <tagged> ]]> | `code` %0A, ::error file=x:: [link](https://x.example) \\| {0}\r\n::warning::\u0000\u0085\uFFFF';

function hostile(): LintReport {
  const text = 'version: 1\n  <script>|`\u001b[31m`\n';
  const related = { range: { line: 1, column: 1, endLine: 1, endColumn: 8 }, message: 'the [other] one' };
  const problems = [problemOf(HOSTILE_FILE, HOSTILE_MESSAGE), problemOf(HOSTILE_FILE, 'twice', { related })];
  return reportOf(problems, { [HOSTILE_FILE]: text });
}

export const REPORTS: Readonly<Record<string, LintReport>> = {
  broken: broken(),
  several: { ...several(), docsUrl: 'https://docs.example/gateway' },
  hostile: hostile(),
  clean: reportOf([], { 'gateway.yaml': 'version: 1\n' }),
};
