import { meet } from '../../plan/pattern-sets.ts';
import { publicOverlaps } from '../overlaps.ts';
import { at, type Rule } from '../rule.ts';
import type { RouteSubject } from '../subject.ts';

export const publicMethodGap: Rule = {
  id: 'public-method-gap',
  family: 'routes',
  severity: 'warning',
  preset: 'minimal',
  why: 'A route that has not the method of a request is passed over for a less specific one that has: a path that is protected for GET may be public for POST.',
  *find({ routes, prover }) {
    const told = new Set<RouteSubject>();
    for (const overlaps of publicOverlaps(routes))
      for (const { open, gate } of overlaps) {
        if (told.has(gate) || open.route.upstream !== gate.route.upstream) continue;
        const gap = open.route.methods.filter(
          (method) => !(gate.route.methods.includes(method) || HARMLESS.has(method)),
        );
        const both = gap.length > 0 ? meet(open.pattern, gate.pattern) : undefined;
        const witness = both && prover.findFor(open, gap, both);
        if (witness === undefined) continue;
        told.add(gate);
        const message = `${witness.method} ${witness.path} needs no token: this route does not take ${witness.method}, and "${open.route.id}", which is public, does; protect the other methods of this path too`;
        yield at([...gate.path, 'method'], message, {
          witness,
          related: { path: [...open.path, 'path'], message: 'the public one' },
        });
      }
  },
};

/** They change nothing, and tell nothing that GET does not. */
const HARMLESS = new Set(['HEAD', 'OPTIONS']);
