import { expect, test } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const route = (id: string, more = '') =>
  `  - { id: ${id}, method: GET, path: /${id}, upstream: up, access: public${more} }\n`;

/** Returns the unused defaults that `lint` reports. */
async function unused(files: Readonly<Record<string, string>>) {
  const { out } = await runCli(['lint', '-f', 'json'], temporaryFolder('default-unused', files));
  const { problems } = JSON.parse(out) as { problems: { rule: string; file: string; line: number; column: number }[] };
  return problems
    .filter(({ rule }) => rule === 'default-unused')
    .map(({ file, line, column }) => `${file}:${line}:${column}`);
}

test('a default of each file is used by the routes of that file, or reported there', async () => {
  const main = `version: 1
include: more.yaml
upstreams: { up: { url: http://127.0.0.1:1 } }
defaults:
  timeout: 9s
  body: { maxBytes: 1KB }
  validation: report
routes:
${route('one', ', timeout: 5s')}`;
  const included = (more: string) => `defaults:\n  timeout: 8s\n  websocket: true\nroutes:\n${route('more', more)}`;
  expect(await unused({ 'gateway.yaml': main, 'more.yaml': included('') })).toEqual([
    'gateway.yaml:5:3',
    'gateway.yaml:6:11',
  ]);
  expect(await unused({ 'gateway.yaml': main, 'more.yaml': included(', timeout: 7s, websocket: false') })).toEqual([
    'gateway.yaml:5:3',
    'gateway.yaml:6:11',
    'more.yaml:2:3',
    'more.yaml:3:3',
  ]);
  const silent = main.replace('  body:', '  # gateway-disable-next-line default-unused -- for later routes\n  body:');
  expect(await unused({ 'gateway.yaml': silent, 'more.yaml': included('') })).toEqual(['gateway.yaml:5:3']);
});
