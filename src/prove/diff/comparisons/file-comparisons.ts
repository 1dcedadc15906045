import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../../../engine/json-pointer.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import type { Comparison, DiffContext } from '../difference.ts';

export const fileComparison: Comparison = {
  rules: {
    'server-files': ['info', 'The paths of the server certificate did not change, but the files did.'],
    'admin-files': ['info', 'The paths of the certificate of the admin API did not change, but the files did.'],
    'admin-authorities': [
      'warning',
      'The path of the authorities for clients of the admin API did not change, but the file did.',
    ],
  },
  *find(sides) {
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
