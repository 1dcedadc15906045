import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatDiffText } from '../../src/cli/diff/diff-formats.ts';
import { COMPARISONS } from '../../src/diff/comparisons/index.ts';
import { diff } from '../../src/diff/diff.ts';
import { createDiffSide, type DiffSide } from '../../src/diff/side.ts';
import { load } from '../../src/load.ts';
import { createPair } from '../support/certificate.ts';

const CASES = new URL('cases/', import.meta.url);
const PAIR = createPair();
const OTHER = createPair();
/** The certificates of the cases. Only the `renewed` ones differ between the sides. */
const PEM = {
  'ca.pem': { old: PAIR.certificate, new: PAIR.certificate },
  'client.pem': { old: PAIR.certificate, new: PAIR.certificate },
  'client.key': { old: PAIR.key, new: PAIR.key },
  'renewed.pem': { old: PAIR.certificate, new: OTHER.certificate },
  'renewed.key': { old: PAIR.key, new: OTHER.key },
} as const;
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

const names = readdirSync(CASES);

/** Loads one side of a case. The files that it names are beside it, or in `PEM`. */
function sideOf(name: string, side: 'old' | 'new'): DiffSide {
  const readFile = (path: string) => {
    const file = basename(path);
    return file in PEM
      ? PEM[file as keyof typeof PEM][side]
      : readFileSync(new URL(`${name}/${side}.${file}`, CASES), 'utf8');
  };
  const path = `${side}.yaml`;
  const text = readFileSync(new URL(`${name}/${path}`, CASES), 'utf8');
  const loaded = load({ path, text }, { env: {}, readFile });
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  return createDiffSide(loaded, readFile);
}

describe('diff', () => {
  test.each(names)('reports %s as in the golden file', (name) => {
    const [old, next] = [sideOf(name, 'old'), sideOf(name, 'new')];
    const differences = diff(old, next);
    const printed = formatDiffText({ old: 'old.yaml', next: 'new.yaml', differences }, false);
    const golden = new URL(`${name}/text.out`, CASES);
    if (UPDATE) writeFileSync(golden, printed);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
    expect(differences.map(({ rule }) => rule)).toContain(name);
    expect([diff(old, old), diff(next, next)]).toEqual([[], []]);
  });

  test('has a case for every comparison', () => {
    expect(names.toSorted()).toEqual(COMPARISONS.map(({ id }) => id).sort());
  });
});
