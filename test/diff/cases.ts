import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { load } from '../../src/engine/load.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { createPair } from '../support/certificate.ts';

export const CASES = new URL('cases/', import.meta.url);

/** The names of the cases: one folder for each kind of difference. */
export const caseNames: readonly string[] = readdirSync(CASES);

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

const ENVIRONMENT = { ADMIN_TOKEN: 'a'.repeat(16), RATE_LIMIT_SECRET: 'b'.repeat(16), LOG_SECRET: 'c'.repeat(32) };

/** Loads one side of a case. The files that it names are beside it, or in `PEM`. */
export function sideOfCase(name: string, side: 'old' | 'new'): DiffSide {
  const readFile = (path: string) => {
    const file = basename(path);
    return file in PEM
      ? PEM[file as keyof typeof PEM][side]
      : readFileSync(new URL(`${name}/${side}.${file}`, CASES), 'utf8');
  };
  const path = `${side}.yaml`;
  const text = readFileSync(new URL(`${name}/${path}`, CASES), 'utf8');
  const loaded = load({ path, text }, { env: ENVIRONMENT, readFile });
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  return createDiffSide(loaded, readFile);
}
