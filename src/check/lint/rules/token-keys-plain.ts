import { isProtectedInTransit } from '../../../engine/dns/loopback.ts';
import { tokenMethods } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const tokenKeysPlain: Rule = {
  id: 'token-keys-plain',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Over plain HTTP an attacker on the network path can respond instead of the issuer, with other keys, and impersonate any user.',
  *find({ manifest }) {
    for (const { entry, path } of tokenMethods(manifest)) {
      const key = 'endpoint' in entry ? 'endpoint' : 'jwks';
      const text: unknown = 'endpoint' in entry ? entry.endpoint : entry.jwks;
      const url = typeof text === 'string' && /^https?:/i.test(text) ? URL.parse(text) : null;
      if (url === null || isProtectedInTransit(url)) continue;
      const message = 'an attacker on the network can change what the issuer sends over plain HTTP; write https://';
      yield findingAt([...path, key], message);
    }
  },
};
