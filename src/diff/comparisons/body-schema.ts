import { isDeepStrictEqual } from 'node:util';
import type { Comparison, Found, Sides, Witness } from '../difference.ts';
import { type Comparison as Compared, compareSchemas } from '../schemas/compare.ts';
import { atKey, type Succession, successions } from './changed-routes.ts';

export const bodyLoosened: Comparison = {
  id: 'body-loosened',
  severity: 'warning',
  what: 'A body that was refused goes on: its schema says less, or there is none any more.',
  *find(sides) {
    for (const [pair, { looser }] of comparedBodies(sides)) {
      if (pair.to.entry.body?.schema === undefined)
        yield atKey(pair, 'body', 'has no schema for bodies any more', looser && { body: looser.value });
      else if (looser !== undefined)
        yield atSchema(pair, 'lets bodies through that it refused', { body: looser.value });
    }
  },
};

export const bodyTightened: Comparison = {
  id: 'body-tightened',
  severity: 'info',
  what: 'A body that went on is refused: its schema says more, or there was none before.',
  *find(sides) {
    for (const [pair, { tighter }] of comparedBodies(sides)) {
      if (pair.from.entry.body?.schema === undefined)
        yield atKey(pair, 'body', 'has a schema for bodies now', tighter && { body: tighter.value });
      else if (tighter !== undefined)
        yield atSchema(pair, 'refuses bodies that it let through', { body: tighter.value });
    }
  },
};

export const bodyChanged: Comparison = {
  id: 'body-changed',
  severity: 'warning',
  what: 'The schema of a body is written otherwise, and no body was found that shows what it means.',
  *find(sides): Generator<Found> {
    for (const [pair, { looser, tighter }] of comparedBodies(sides)) {
      const hasBoth = [pair.from, pair.to].every(({ entry }) => entry.body?.schema !== undefined);
      if (hasBoth && looser === undefined && tighter === undefined)
        yield atSchema(pair, 'has another schema for bodies; whether it lets more through is not known');
    }
  },
};

/** Told at the shared schema, where the route says what it said. */
function atSchema(pair: Succession, message: string, witness?: Witness): Found {
  const found = atKey(pair, 'body', message, witness);
  const { from, to } = pair;
  const schema = to.entry.body?.schema;
  const name = typeof schema === 'object' ? SHARED.exec(String(schema['$ref']))?.[1] : undefined;
  const isElsewhere = name !== undefined && isDeepStrictEqual(from.entry.body, to.entry.body);
  return isElsewhere ? { ...found, path: ['schemas', name] } : found;
}

const SHARED = /^#\/schemas\/([^/]+)$/;

const known = new WeakMap<Sides, readonly (readonly [Succession, Compared])[]>();

/** The pairs whose schemas differ, compared once for all who ask. */
function comparedBodies(sides: Sides): readonly (readonly [Succession, Compared])[] {
  const before = known.get(sides);
  if (before !== undefined) return before;
  const compared = [...successions(sides)].flatMap((pair) => {
    const one = compareBodies(sides, pair);
    return one.isSame ? [] : [[pair, one] as const];
  });
  known.set(sides, compared);
  return compared;
}

function compareBodies({ old, next }: Sides, { from, to }: Succession): Compared {
  const placed = (name: 'old' | 'new', side: Sides['old'], { path, entry }: Succession['from']) =>
    entry.body?.schema === undefined
      ? { ...ANYTHING, side: name }
      : { side: name, root: side.schemas, path: [...path, 'body', 'schema'], judgeAt: side.judgeAt };
  return compareSchemas(placed('old', old, from), placed('new', next, to));
}

/** What a route without a schema holds bodies to. */
const ANYTHING = {
  root: { schemas: { anything: true }, routes: [], files: {} },
  path: ['schemas', 'anything'],
  judgeAt: () => () => [],
};
