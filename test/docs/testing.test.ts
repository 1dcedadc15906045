import { describe, expect, it } from 'vitest';
import { MUTATORS } from '../../src/prove/mutation/mutators.ts';
import { expectConsoles } from '../support/console.ts';
import { expectKeys } from '../support/schema-keys.ts';
import { expectSection } from '../support/section.ts';

const LOG = [
  { path: '/contacts', route: 'contacts', status: 200, gatewayMs: 0.2, role: 'admin' },
  { path: '/contacts', route: 'contacts', status: 200, gatewayMs: 0.2, role: 'user' },
  { path: '/contacts', route: 'contacts', status: 401, refusal: 'token_invalid', reason: 'token_expired' },
  { path: '/backup.zip', status: 404, refusal: 'route_unknown', reason: 'route_unknown' },
  { path: '/contacts', route: 'contacts', status: 504, refusal: 'upstream_timeout', reason: 'upstream_idle_timeout' },
]
  .map(
    (members) =>
      `${JSON.stringify({ level: 30, time: 1_767_225_600_000, msg: 'request', method: 'GET', ...members })}\n`,
  )
  .join('');

describe('docs/testing.md', () => {
  it('shows the output of its commands', async () => {
    expectSection('docs/testing.md', 'log', `\`\`\`json\n${LOG}\`\`\`\n`);
    expect(await expectConsoles('docs/testing.md', { 'access.log': LOG })).toBe(3);
  });

  it('lists every mutator', () => {
    const rows = MUTATORS.map(({ id, summary }) => `| \`${id}\` | ${summary} |\n`).join('');
    expectSection('docs/testing.md', 'mutators', `| mutator | change |\n|---|---|\n${rows}`);
  });

  it('lists every key of the schema', () => {
    expectKeys('docs/testing.md', 'gateway-test.schema.json', { anyName: '<text>' });
  });
});
