import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCli } from './support/cli.ts';

it('gateway.yaml passes its test file with full coverage', async () => {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const { code, out, err } = await runCli(['test', 'test/gateway.test.yaml', '--fail-under', '100'], root);
  expect({ code, err }, out).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^test\/gateway\.test\.yaml: \d{3} passed\ncoverage 100 %: /);
});
