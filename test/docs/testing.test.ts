import { describe, expect, it } from 'vitest';
import { expectConsoles } from '../support/console.ts';
import { expectKeys } from '../support/schema-keys.ts';

describe('docs/testing.md', () => {
  it('shows the output of its commands', async () => {
    expect(await expectConsoles('docs/testing.md')).toBe(1);
  }, 60_000);

  it('lists every key of the schema', () => {
    expectKeys('docs/testing.md', 'gateway-test.schema.json', { anyName: '<text>' });
  });
});
