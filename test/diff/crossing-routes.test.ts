import { expect, test } from 'vitest';
import { formatDiffMarkdown, formatDiffText } from '../../src/cli/diff/diff-formats.ts';
import { load } from '../../src/engine/load.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { WORLD } from './full-manifests.ts';

const COUNT = 120;

function sideOf(path: (index: number) => string, access: (index: number) => string): DiffSide {
  const routes = Array.from({ length: COUNT }, (_, index) => ({
    id: `r-${path(index).replaceAll(/\W/g, '')}`,
    method: 'GET',
    path: path(index),
    upstream: 'one',
    access: access(index),
  }));
  const manifest = {
    version: 1,
    upstreams: { one: { url: 'http://127.0.0.1:1' } },
    auth: {
      tokens: { jwt: { jwks: 'http://127.0.0.1:1/', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow: ['user'], message: 'users only' },
    },
    routes,
  };
  const loaded = load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, WORLD);
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems[0]));
  return createDiffSide(loaded, WORLD.readFile);
}

/** Of the old routes, only the last one is protected. */
const OLD = sideOf(
  (index) => `/a${index}/{id}`,
  (index) => (index === COUNT - 1 ? 'protected' : 'public'),
);
const NEW = sideOf(
  (index) => `/{id}/b${index}`,
  () => 'public',
);

test('a new route is compared with a limited number of old routes of one kind', () => {
  const differences = diff(OLD, NEW);
  const shadowed = differences.filter(({ rule }) => rule === 'route-shadowed');
  expect(shadowed).toHaveLength(21 * COUNT);
  const rest = shadowed.filter(({ message }) => message.includes(`up to ${COUNT - 1 - 20} more routes like it`));
  expect(rest).toHaveLength(COUNT);
  expect(differences.filter(({ rule }) => rule === 'route-public')).toHaveLength(COUNT);
});

test('the reports for people list a hundred differences of a kind, and the number of the others', () => {
  const report = { old: 'old.yaml', next: 'new.yaml', differences: diff(OLD, NEW) };
  expect(formatDiffText(report, false)).toContain(`and ${21 * COUNT - 100} more [route-shadowed]\n`);
  expect(formatDiffText(report, false).match(/\[route-public\]/g)).toHaveLength(101);
  expect(formatDiffMarkdown(report)).toContain(`and ${21 * COUNT - 100} more (route-shadowed)`);
});
