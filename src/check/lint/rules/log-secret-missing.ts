import type { Manifest } from '../../../engine/manifest/manifest.generated.ts';
import { loggedSecrets } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const logSecretMissing: Rule = {
  id: 'log-secret-missing',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Without a secret each process has its own key, so the surrogates of two processes, or of one before and after a restart, differ.',
  *find({ manifest, routes }) {
    const { paths, replay, secret } = manifest.log;
    if (secret !== undefined) return;
    const isKeyed = paths === 'keyed' || (paths === undefined && replay && loggedSecrets(routes).length > 0);
    if (!isKeyed) return;
    const key: keyof Manifest['log'] = paths === undefined ? 'replay' : 'paths';
    yield findingAtKey(
      ['log', key],
      'the surrogates in paths change with each process, so lines of two processes cannot be compared; add secret: ${LOG_SECRET}',
    );
  },
};
