import { describe, expect, it } from 'vitest';
import { MUTATORS } from '../../src/testing/mutation/mutators/index.ts';
import { expectConsoles } from '../support/console.ts';
import { expectKeys } from '../support/schema-keys.ts';
import { expectSection } from '../support/section.ts';

describe('docs/testing.md', () => {
  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/testing.md')).toBe(2);
  }, 60_000);

  it('lists every mutator', () => {
    const rows = MUTATORS.map(({ id, summary }) => `| \`${id}\` | ${summary} |\n`).join('');
    expectSection('docs/testing.md', 'mutators', `| mutator | change |\n|---|---|\n${rows}`);
  });

  it('lists every key of the schema', () => {
    expectKeys('docs/testing.md', 'gateway-test.schema.json', { anyName: '<text>' });
  });
});
