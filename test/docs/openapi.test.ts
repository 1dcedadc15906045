import { expect, it } from 'vitest';
import { expectConsoles } from '../support/console.ts';

it('docs/openapi.md shows the routes of its document', async () => {
  expect(await expectConsoles('docs/openapi.md')).toBe(1);
});
