import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../../../engine/json-pointer.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import type { Comparisons, DiffContext } from '../difference.ts';
import { commonUpstreams, endpointsKey } from '../upstream-pairs.ts';

export const fileComparisons: Comparisons = {
  'token-method': {
    severity: 'error',
    description: 'Tokens are verified by another method.',
    *find(sides) {
      const [old, next] = [tokenMethodOf(sides.old), tokenMethodOf(sides.next)];
      if (old !== undefined && next !== undefined && old !== next)
        yield { message: `tokens are now verified by ${next} (was ${old})`, path: ['auth', 'tokens', next] };
    },
  },
  'token-files': {
    severity: 'error',
    description: 'The token settings name the same file or upstream, but its contents or endpoints changed.',
    *find(sides) {
      if (isFileChanged(sides, ['auth', 'tokens', 'jwt', 'jwks']) || hasOtherIdentityService(sides))
        yield {
          message: 'the file or the upstream that the token settings name has changed',
          path: ['auth', 'tokens'],
        };
    },
  },
  'server-files': {
    severity: 'info',
    description: 'The paths of the server certificate did not change, but the files did.',
    *find(sides) {
      if (CERTIFICATE.some((key) => isFileChanged(sides, ['server', 'tls', key])))
        yield { message: 'the certificate files have changed', path: ['server', 'tls'] };
    },
  },
  'admin-files': {
    severity: 'info',
    description: 'The paths of the certificate of the admin API did not change, but the files did.',
    *find(sides) {
      if (CERTIFICATE.some((key) => isFileChanged(sides, ['admin', 'tls', key])))
        yield { message: 'the certificate files of the admin API have changed', path: ['admin', 'tls'] };
    },
  },
  'admin-authorities': {
    severity: 'warning',
    description: 'The path of the authorities for clients of the admin API did not change, but the file did.',
    *find(sides) {
      const path = ['admin', 'tls', 'clientCa'];
      if (isFileChanged(sides, path))
        yield { message: 'other authorities sign the certificates of admin clients', path };
    },
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
