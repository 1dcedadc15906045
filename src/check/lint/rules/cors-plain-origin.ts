import { isLoopback } from '../../../engine/dns/loopback.ts';
import { findingAt, type Rule } from '../rule.ts';

export const corsPlainOrigin: Rule = {
  id: 'cors-plain-origin',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Anyone on the network path can change a page that is loaded over plain HTTP, so its origin cannot be trusted.',
  *find({ manifest, secrets }) {
    for (const [index, origin] of (manifest.cors?.origins ?? []).entries()) {
      const path = ['cors', 'origins', index];
      const url = URL.parse(origin);
      if (url?.protocol !== 'http:' || isLoopback(url.hostname)) continue;
      const suggested = secrets.isSecret(path) ? 'https://' : `https://${url.host}`;
      yield findingAt(
        path,
        `an attacker on the network can change pages of this origin and read responses through them; write ${suggested}`,
      );
    }
  },
};
