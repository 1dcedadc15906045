import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { createPair } from '../support/certificate.ts';
import { worldOf } from '../support/gateway.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const pages = globSync('docs/migrate/*.md', { cwd: root }).filter((file) => basename(file) !== 'README.md');

const pair = createPair();
const FILES = { 'tls.crt': pair.certificate, 'tls.key': pair.key };
const ENVIRONMENT = { PARTNER_KEY: 'k', REDIS_URL: 'redis://127.0.0.1:6379', RATE_LIMIT_SECRET: 'sixteen characters' };

/** Every key of the manifest, as the reference lists it. */
const keys = globSync('docs/manifest/*.md', { cwd: root }).flatMap((file) =>
  [...read(file).matchAll(/^\| `([^`]+)` \|/gm)].map(([, key = '']) => key.replaceAll('[]', '')),
);

/** Returns the keys in the second column of the table of a page. A key without its first parts belongs to the one before it. */
function keysOf(page: string): string[] {
  const cells = [...page.matchAll(/^\| [^|]* \| ([^|]*) \|/gm)].map(([, cell = '']) => cell);
  const names = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
  return names.filter((name) => !name.startsWith('${')).map((name) => name.replace(/: .*$/, ''));
}

describe.each(pages)('%s', (file) => {
  const page = read(file);
  const [manifest = ''] = [...page.matchAll(/^```yaml\n(version: 1\n[\s\S]*?)^```$/gm)].map(([, text = '']) => text);

  it('has a manifest that loads', () => {
    const { problems, plan } = load({ path: 'gateway.yaml', text: manifest }, worldOf(ENVIRONMENT, FILES));
    expect(problems).toEqual([]);
    expect(plan?.routes.length).toBeGreaterThan(0);
  });

  it('names only keys that the manifest has', () => {
    const named = keysOf(page);
    expect(named.length).toBeGreaterThan(20);
    const isKey = (name: string) => keys.some((key) => key === name || key.endsWith(`.${name}`));
    expect(named.filter((name) => !isKey(name))).toEqual([]);
  });

  it('is in the index of the folder', () => {
    expect(read('docs/migrate/README.md')).toContain(`(${basename(file)})`);
  });
});
