import { atKey, type Rule } from '../rule.ts';
import { waysOf } from '../tokens.ts';

export const tokenSubjectOptional: Rule = {
  id: 'token-subject-optional',
  family: 'auth',
  severity: 'info',
  preset: 'strict',
  why: `A token without "sub" is nobody's: the log cannot tell whose requests belong together.`,
  *find({ manifest }) {
    for (const { way, path } of waysOf(manifest))
      if (!way.requiredClaims.includes('sub'))
        yield atKey(path, 'a token need not say whose it is; add requiredClaims: [sub]');
  },
};
