import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../../../engine/json-pointer.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import type { Comparison, DiffContext } from '../difference.ts';
import { commonUpstreams, endpointsKey } from './upstream-comparisons.ts';

export const fileComparison: Comparison = {
  rules: {
    'token-method': ['error', 'Tokens are verified by another method.'],
    'token-files': [
      'error',
      'The token settings name the same file or upstream, but its contents or endpoints changed.',
    ],
    'server-files': ['info', 'The paths of the server certificate did not change, but the files did.'],
    'admin-files': ['info', 'The paths of the certificate of the admin API did not change, but the files did.'],
    'admin-authorities': [
      'warning',
      'The path of the authorities for clients of the admin API did not change, but the file did.',
    ],
  },
  *find(sides) {
    const [old, next] = [tokenMethodOf(sides.old), tokenMethodOf(sides.next)];
    if (old !== undefined && next !== undefined && old !== next) {
      const message = `tokens are now verified by ${next} (was ${old})`;
      yield { rule: 'token-method', message, path: ['auth', 'tokens', next] };
    }
    if (isFileChanged(sides, ['auth', 'tokens', 'jwt', 'jwks']) || hasOtherIdentityService(sides)) {
      const message = 'the file or the upstream that the token settings name has changed';
      yield { rule: 'token-files', message, path: ['auth', 'tokens'] };
    }
    if (CERTIFICATE.some((key) => isFileChanged(sides, ['server', 'tls', key])))
      yield { rule: 'server-files', message: 'the certificate files have changed', path: ['server', 'tls'] };
    const message = 'the certificate files of the admin API have changed';
    if (CERTIFICATE.some((key) => isFileChanged(sides, ['admin', 'tls', key])))
      yield { rule: 'admin-files', message, path: ['admin', 'tls'] };
    const path = ['admin', 'tls', 'clientCa'];
    if (isFileChanged(sides, path))
      yield { rule: 'admin-authorities', message: 'other authorities sign the certificates of admin clients', path };
  },
};

const CERTIFICATE = ['certificate', 'key'];

/** True if both manifests have the same text at a path, and the file that it names has other contents. */
function isFileChanged({ old, next }: DiffContext, path: Path): boolean {
  const isSameText = isDeepStrictEqual(valueAt(old.redacted, path), valueAt(next.redacted, path));
  return isSameText && !isDeepStrictEqual(valueAt(old.effective, path), valueAt(next.effective, path));
}

/** True if tokens are verified by an upstream that has the same name on both sides, but other endpoints. */
function hasOtherIdentityService(sides: DiffContext): boolean {
  const [old, next] = [sides.old, sides.next].map(({ manifest }) => identityUpstream(manifest));
  if (old === undefined || old !== next) return false;
  return [...commonUpstreams(sides)].some(
    (pair) => pair.id === old && endpointsKey(pair.old) !== endpointsKey(pair.next),
  );
}

function identityUpstream({ auth }: DiffContext['old']['manifest']): string | undefined {
  const { endpoint } = auth?.tokens.introspection ?? auth?.tokens.userinfo ?? {};
  return typeof endpoint === 'object' ? endpoint.upstream : undefined;
}

function tokenMethodOf({ manifest }: DiffContext['old']): string | undefined {
  return manifest.auth && Object.keys(manifest.auth.tokens)[0];
}
