import { tokenMethods } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const tokenSubjectOptional: Rule = {
  id: 'token-subject-optional',
  category: 'auth',
  severity: 'info',
  preset: 'strict',
  rationale: 'A token without "sub" identifies no user, so the log cannot group requests by user.',
  *find({ manifest }) {
    for (const { entry, path } of tokenMethods(manifest))
      if (!entry.requiredClaims.includes('sub'))
        yield findingAtKey(path, 'tokens without a subject are accepted; add requiredClaims: [sub]');
  },
};
