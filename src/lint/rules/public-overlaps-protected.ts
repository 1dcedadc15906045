import { isFirst, meet } from '../../plan/pattern-sets.ts';
import { publicOverlaps, sharedMethods } from '../overlaps.ts';
import { at, type Rule } from '../rule.ts';

export const publicOverlapsProtected: Rule = {
  id: 'public-overlaps-protected',
  family: 'routes',
  severity: 'warning',
  preset: 'minimal',
  why: 'Where both paths match, the public route is the more specific one and wins: a request that the protected route should have had needs no token.',
  *find({ routes, prover }) {
    for (const overlaps of publicOverlaps(routes))
      for (const overlap of overlaps) {
        const { open, gate, isCover } = overlap;
        const isWon = !isCover && isFirst(open.pattern, gate.pattern);
        const both = isWon ? meet(open.pattern, gate.pattern) : undefined;
        const witness = both && prover.findFor(open, sharedMethods(overlap), both);
        if (witness === undefined) continue;
        const message = `${witness.method} ${witness.path} is a path of "${gate.route.id}" too, which is protected, and needs no token here; narrow one of the two paths`;
        yield at([...open.path, 'path'], message, {
          witness,
          related: { path: [...gate.path, 'path'], message: 'the protected one' },
        });
        break;
      }
  },
};
