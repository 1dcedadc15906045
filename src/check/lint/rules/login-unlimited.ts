import { hasWriteMethod, type LintRoute } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const loginUnlimited: Rule = {
  id: 'login-unlimited',
  category: 'limits',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Without a rate limit, anyone can try passwords and codes as fast as the upstream responds; a code of six digits does not last a day.',
  *find({ routes }) {
    for (const lintRoute of routes) {
      const { entry, route, path } = lintRoute;
      if (entry.access === 'protected' || !hasWriteMethod(entry, true) || !isGuessable(lintRoute)) continue;
      const limits = Object.values(route.rateLimits ?? {}).flat();
      // A date in `reportUntil` is a plan to enforce the limit, which `rate-limit-report-over` verifies.
      if (limits.some(({ mode, reportUntil }) => mode === 'enforce' || reportUntil !== undefined)) continue;
      const message =
        limits.length === 0
          ? 'anyone can guess passwords or codes here without a limit; add rateLimits: with the name of one, such as { key: client, allow: 30 per 15m, count: failures }'
          : 'the rate limits of this route only report guesses; write mode: enforce, or add reportUntil: with a date';
      yield findingAtKey([...path, 'access'], message);
    }
  },
};

const WORDS =
  /(?:^|[-_.])(?:log-?in|sign-?in|mfa|2fa|t?otp|passwords?|passcode|reset|forgot|verif(?:y|ication)|recover(?:y)?|unlock)(?:$|[-_.])/i;

/** True if a route checks a secret that a client can guess, as far as its id and its path show. */
function isGuessable({ entry, pattern }: LintRoute): boolean {
  const texts = pattern.flatMap((segment) => (segment.kind === 'literal' ? [segment.text] : []));
  return entry.login !== undefined || [entry.id, ...texts].some((text) => WORDS.test(text));
}
