import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { worldOf } from '../support/gateway.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const page = read('docs/specification-coverage.md');
const { plan } = load({ path: 'gateway.yaml', text: read('gateway.yaml') }, worldOf());
const tests = new Map([...page.matchAll(/\*\*(\w)\*\* `([^`]+)`/g)].map(([, name, path]) => [name, read(path ?? '')]));
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Statement'))
  .map((line) => line.slice(2, -2).split(' | '));

describe('docs/specification-coverage.md', () => {
  it('has three cells in every row', () => {
    expect(rows.length).toBeGreaterThan(60);
    for (const row of rows) expect([row[0], row.length]).toEqual([row[0], 3]);
  });

  it('names all routes of the manifest and no others', () => {
    const listed = new Set([...page.matchAll(/`route ([a-z-]+)`/g)].map(([, id]) => id));
    const ids = new Set(plan?.routes.map(({ id }) => id));
    expect([...listed].filter((id) => !ids.has(id ?? ''))).toEqual([]);
    const unlisted = [...ids].filter((id) => !listed.has(id));
    // The specification does not state the routes of attachments other than the download.
    expect(unlisted).toEqual(['attachments']);
  });

  it('names existing files', () => {
    const files = [...page.matchAll(/`((?:src|test|docs|examples)\/[^`]+)`/g)].map(([, path]) => path ?? '');
    expect(files.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('names existing tests', () => {
    const missing = rows.filter(([, , test = '']) => {
      const [, file, title] = /^(\w): (.+)$/.exec(test) ?? [];
      return (
        title === undefined ||
        (!tests.get(file)?.includes(`'${title.replaceAll("'", "\\'")}'`) && !tests.get(file)?.includes(`"${title}"`))
      );
    });
    expect(missing.map(([, , test]) => test)).toEqual([]);
  });
});
