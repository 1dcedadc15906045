import { publicOverlaps, sharedMethods } from '../overlaps.ts';
import { at, type Rule } from '../rule.ts';

export const publicCoversProtected: Rule = {
  id: 'public-covers-protected',
  family: 'routes',
  severity: 'warning',
  preset: 'minimal',
  why: 'Around a protected path everything else is public: what the upstream adds there tomorrow needs no token, and nobody decided so.',
  *find({ routes, prover }) {
    for (const overlaps of publicOverlaps(routes)) {
      const cover = overlaps.find((overlap) => overlap.isCover && sharedMethods(overlap).length > 0);
      const witness = cover && prover.findFor(cover.open, sharedMethods(cover));
      if (cover === undefined || witness === undefined) continue;
      const { open, gate } = cover;
      const message = `this public path takes in ${gate.route.path} of "${gate.route.id}", which is protected: ${witness.method} ${witness.path} needs no token; name what is public, and protect the rest`;
      yield at([...open.path, 'path'], message, {
        witness,
        related: { path: [...gate.path, 'path'], message: 'the protected one' },
      });
    }
  },
};
