import type { Comparison, DiffContext } from '../difference.ts';

export const tokenMethod: Comparison = {
  id: 'token-method',
  severity: 'error',
  description: 'Tokens are verified by another method.',
  *find(sides) {
    const [old, next] = [tokenMethodOf(sides.old), tokenMethodOf(sides.next)];
    if (old !== undefined && next !== undefined && old !== next)
      yield { message: `tokens are now verified by ${next} (was ${old})`, path: ['auth', 'tokens', next] };
  },
};

export const tokenFiles: Comparison = {
  id: 'token-files',
  severity: 'error',
  description: 'The token settings did not change, but the file or the upstream that they name did.',
  *find(sides) {
    const [old, next] = [sides.old, sides.next].map(({ plan, manifest }) => ({
      key: plan.auth?.verifier.key,
      settings: JSON.stringify(manifest.auth?.tokens),
    }));
    if (old?.settings !== next?.settings || old?.key === next?.key) return;
    yield { message: 'the file or the upstream that the token settings name has changed', path: ['auth', 'tokens'] };
  },
};

export const serverFiles: Comparison = {
  id: 'server-files',
  severity: 'info',
  description: 'The paths of the server certificate did not change, but the files did.',
  *find({ old, next }) {
    const hasSameSettings = JSON.stringify(old.manifest.server.tls) === JSON.stringify(next.manifest.server.tls);
    if (!hasSameSettings || old.plan.server.keys.tls === next.plan.server.keys.tls) return;
    yield { message: 'the certificate files have changed', path: ['server', 'tls'] };
  },
};

function tokenMethodOf({ manifest }: DiffContext['old']): string | undefined {
  return manifest.auth && Object.keys(manifest.auth.tokens)[0];
}
