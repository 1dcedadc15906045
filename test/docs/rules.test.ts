import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CATEGORIES, PRESETS, type Rule } from '../../src/check/lint/rule.ts';
import { RULES } from '../../src/check/lint/rule-table.ts';
import { lintCase, lintText } from '../lint/support.ts';
import { AUTH, manifestOf, ROUTE } from '../manifest/support.ts';
import { expectSection } from '../support/section.ts';

const INDEX = 'docs/rules/README.md';
const page = readFileSync(new URL(`../../${INDEX}`, import.meta.url), 'utf8');
const CASES = new URL('../manifest/cases/', import.meta.url);

/** The manifest case that demonstrates each error, by rule id. */
const EXAMPLES: Readonly<Record<string, string>> = {
  syntax: 'yaml-colon-in-value',
  schema: 'key-route',
  environment: 'environment-missing',
  include: 'include-nothing',
  'include-twice': 'include-twice',
  address: 'listen-port',
  'listen-twice': 'listen-twice',
  'listen-socket': 'listen-mode-without-socket',
  'admin-exposed': 'admin-exposed',
  path: 'path-colon-parameter',
  'route-id': 'id-twice',
  'route-duplicate': 'routes-duplicate',
  'route-response': 'two',
  invariant: 'invariant-reason',
  'invariant-unknown': 'invariant-unknown',
  'invariant-broken': 'invariant-broken',
  'upstream-unknown': 'upstream-unknown',
  'upstream-path': 'upstream-path-prefix',
  header: 'header-reserved',
  websocket: 'websocket-post',
  'auth-missing': 'auth-missing-protected',
  'secret-in-file': 'jwt-secret-in-file',
  'jwt-keys': 'jwt-no-keys',
  'jwt-algorithm': 'jwt-secret-algorithm',
  jwks: 'jwks-file-weak',
  discovery: 'discovery-plain',
  endpoint: 'endpoint-host',
  'token-method': 'method-issuers',
  'issuer-unknown': 'issuer-unknown',
  'role-unknown': 'roles-unknown',
  'roles-public': 'roles-public',
  'login-token-path': 'login-token-path',
  'login-websocket': 'login-websocket',
  'cors-origin': 'cors-origin-path',
  'cors-credentials': 'cors-credentials',
  body: 'body-on-get',
  'body-types': 'body-types-not-json',
  parameters: 'params-unknown',
  'body-schema': 'schema-keyword',
  'rate-limit': 'rate-limit-duration',
  'rate-limit-unknown': 'rate-limit-unknown',
  'rate-limit-key': 'rate-limit-subject-public',
  'rate-limit-missing': 'rate-limit-missing',
  'store-unknown': 'store-unknown',
  'store-redis': 'redis-url',
  'store-secret': 'store-secret',
  'log-secret': 'log-secret',
  'upstream-url': 'upstream-port',
  'upstream-tls': 'upstream-tls-plain',
  'upstream-health': 'health-path-and-connect',
  'server-limit': 'server-header-bytes',
  'server-timeout': 'server-timeout-zero',
  'trusted-proxy': 'server-trusted-address',
  'self-test': 'self-test-file',
  tls: 'server-tls-file',
};
/** Errors that also depend on the environment, so a manifest alone cannot demonstrate them. */
const WITHOUT_EXAMPLE = ['jwt-secret', 'admin-token'];

describe('docs/rules', () => {
  it.each(Object.entries(CATEGORIES))('%s.md has a section with real output for every rule', (category) => {
    const rules = RULES.filter((rule) => rule.category === category);
    expectSection(`docs/rules/${category}.md`, 'rules', `${indexOf(rules)}\n${rules.map(sectionOf).join('\n')}`);
  });

  it('README.md lists every rule with a link to its section', () => {
    const lists = Object.entries(CATEGORIES).map(([category, title]) => {
      const rules = RULES.filter((rule) => rule.category === category);
      return `### [${title}](${category}.md)\n\n${indexOf(rules, `${category}.md`)}`;
    });
    expectSection(INDEX, 'rules', lists.join('\n'));
  });

  it('README.md shows settings and comments that work as described', () => {
    const [settings = '', comment = ''] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
      ([, text = '']) => text,
    );
    const unused = '  search: { url: http://127.0.0.1:7003 }\n';
    const text = manifestOf(`${settings}${AUTH}`, ROUTE.replace('public', 'protected'));
    expect(lintText(text.replace('7002 }\n', `7002 }\n${unused}`)).map(({ rule }) => rule)).toEqual([
      'body-without-rule',
    ]);
    const large = ROUTE.replace(' }', ', body: { maxBytes: 2GB } }');
    expect(lintText(manifestOf('', large)).map(({ rule }) => rule)).toEqual([
      'public-write-without-schema',
      'body-large',
    ]);
    expect(lintText(manifestOf('', `  ${comment}${large}`)).map(({ rule }) => rule)).toEqual([]);
  });
});

function indexOf(rules: readonly Rule[], page = ''): string {
  const rows = rules.map((rule) => `| [${rule.id}](${page}#${rule.id}) | ${rule.severity} | ${presetsOf(rule)} |\n`);
  return `| rule | severity | presets |\n|---|---|---|\n${rows.join('')}`;
}

function presetsOf({ severity, preset }: Rule): string {
  return severity === 'error' ? 'always' : PRESETS.slice(PRESETS.indexOf(preset)).join(', ');
}

function sectionOf(rule: Rule): string {
  const parts = [`## ${rule.id}\n`, `${rule.rationale}\n`];
  if (rule.severity === 'error') {
    if (!WITHOUT_EXAMPLE.includes(rule.id)) parts.push(...exampleBlocks(...errorExampleOf(rule)));
  } else if (rule.category !== 'online') {
    const { text, printed } = lintCase(rule, 'bad.yaml');
    parts.push(...exampleBlocks(text, printed), `Instead:\n\n${block('yaml', lintCase(rule, 'good.yaml').text)}`);
  }
  return parts.join('\n');
}

function errorExampleOf({ id }: Rule): [string, string] {
  const name = EXAMPLES[id];
  const [text, out] = ['yaml', 'out'].map((end) => readFileSync(new URL(`${id}/${name}.${end}`, CASES), 'utf8'));
  expect([id, out]).toEqual([id, expect.stringContaining(`[${id}]`)]);
  return [text ?? '', (out ?? '').replaceAll(`${name}.yaml:`, 'bad.yaml:')];
}

function exampleBlocks(text: string, printed: string): string[] {
  return [block('yaml', text), block('console', `$ signing-gateway lint bad.yaml\n${printed}`)];
}

function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\`\`\`\n`;
}
