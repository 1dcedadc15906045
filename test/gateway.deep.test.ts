import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCli } from './support/cli.ts';

it('gateway.yaml passes its test file', async () => {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const { code, out, err } = await runCli(['test', 'test/gateway.test.yaml'], root);
  expect({ code, err }, out).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^test\/gateway\.test\.yaml: \d{4} passed\n/);
});
