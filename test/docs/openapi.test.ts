import { expect, it } from 'vitest';
import { expectConsoles } from '../support/console.ts';

it('docs/openapi.md shows the output of its commands', async () => {
  expect(await expectConsoles('docs/openapi.md')).toBe(2);
});
