import { findingAtKey, type Rule } from '../rule.ts';
import { tokenMethods } from '../token-methods.ts';

export const tokenSubjectOptional: Rule = {
  id: 'token-subject-optional',
  category: 'auth',
  severity: 'info',
  preset: 'strict',
  rationale: `A token without "sub" is nobody's: the log cannot tell whose requests belong together.`,
  *find({ manifest }) {
    for (const { way, path } of tokenMethods(manifest))
      if (!way.requiredClaims.includes('sub'))
        yield findingAtKey(path, 'a token need not say whose it is; add requiredClaims: [sub]');
  },
};
