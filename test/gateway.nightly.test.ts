import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runProcess } from './support/cli.ts';

it('the test file of gateway.yaml notices every change of it', async () => {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const { code, out, err } = await runProcess(
    ['test', 'test/gateway.test.yaml', '--mutate', '--fail-under', '100'],
    root,
  );
  expect({ code, err }, out).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/\ncoverage of .* 100 %: .*\nmutation score 100 %: /);
});
