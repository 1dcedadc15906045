import { isProtectedInTransit } from '../../loopback.ts';
import { findingAt, type Rule } from '../rule.ts';
import { tokenMethods } from '../token-methods.ts';

export const tokenKeysPlain: Rule = {
  id: 'token-keys-plain',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    "Over plain HTTP anyone on the way can answer in the issuer's place, with keys of their own: they can be any user.",
  *find({ manifest }) {
    for (const { way, path } of tokenMethods(manifest)) {
      const key = 'endpoint' in way ? 'endpoint' : 'jwks';
      const text: unknown = 'endpoint' in way ? way.endpoint : way.jwks;
      const url = typeof text === 'string' && /^https?:/i.test(text) ? URL.parse(text) : null;
      if (url === null || isProtectedInTransit(url)) continue;
      const message =
        'what the issuer says comes over plain HTTP here, and anyone on the way can change it; write https://';
      yield findingAt([...path, key], message);
    }
  },
};
