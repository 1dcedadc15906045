import { durationMs } from '../../../engine/manifest/units.ts';
import { tokenMethods } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

/** Keys rarely change, and a stale key still verifies only the tokens that it signed. */
const KEYS_MS = 24 * 3_600_000;
const TOKENS_MS = 300_000;

export const tokenStaleLong: Rule = {
  id: 'token-stale-long',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'While the issuer is unavailable the gateway cannot see revocations, so an attacker who blocks the issuer keeps revoked access.',
  *find({ manifest }) {
    for (const { entry, path } of tokenMethods(manifest)) {
      const isKeys = path.at(-1) === 'jwt';
      if (durationMs(entry.staleIfError) <= (isKeys ? KEYS_MS : TOKENS_MS)) continue;
      const message = `while the issuer is unavailable, revocations have no effect for up to ${entry.staleIfError}; write ${isKeys ? '24h' : '5m'} or less`;
      yield findingAt([...path, 'staleIfError'], message);
    }
  },
};
