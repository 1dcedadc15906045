import { durationMs } from '../../manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';
import { tokenMethods } from '../token-methods.ts';

/** Keys change rarely, and a stale one verifies nothing that was not signed by it. */
const KEYS_MS = 24 * 3_600_000;
const TOKENS_MS = 300_000;

export const tokenStaleLong: Rule = {
  id: 'token-stale-long',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'While the issuer does not answer nobody can be shut out: an attacker who keeps it from answering keeps what was taken away.',
  *find({ manifest }) {
    for (const { way, path } of tokenMethods(manifest)) {
      const isKeys = path.at(-1) === 'jwt';
      if (durationMs(way.staleIfError) <= (isKeys ? KEYS_MS : TOKENS_MS)) continue;
      const message = `nothing that the issuer takes back is noticed for ${way.staleIfError} while it does not answer; write ${isKeys ? '24h' : '5m'} or less`;
      yield findingAt([...path, 'staleIfError'], message);
    }
  },
};
