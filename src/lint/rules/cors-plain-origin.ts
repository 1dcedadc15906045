import { isLoopback } from '../../loopback.ts';
import { findingAt, type Rule } from '../rule.ts';

export const corsPlainOrigin: Rule = {
  id: 'cors-plain-origin',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale: "A page that comes over plain HTTP is whoever's is on the way to it: its origin vouches for nothing.",
  *find({ manifest, secrets }) {
    for (const [index, origin] of (manifest.cors?.origins ?? []).entries()) {
      const path = ['cors', 'origins', index];
      const url = URL.parse(origin);
      if (url?.protocol !== 'http:' || isLoopback(url.hostname)) continue;
      const meant = secrets.isSecret(path) ? 'https://' : `https://${url.host}`;
      yield findingAt(path, `anyone on the way to this page can change it, and read answers as it; write ${meant}`);
    }
  },
};
