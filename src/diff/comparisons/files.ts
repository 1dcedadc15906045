import type { Comparison, DiffContext } from '../difference.ts';

export const tokenMethod: Comparison = {
  id: 'token-method',
  severity: 'error',
  description: 'Tokens are verified in another way.',
  *find(sides) {
    const [old, next] = [tokenMethodOf(sides.old), tokenMethodOf(sides.next)];
    if (old !== undefined && next !== undefined && old !== next)
      yield { message: `tokens are verified by ${next}, before by ${old}`, path: ['auth', 'tokens', next] };
  },
};

export const tokenFiles: Comparison = {
  id: 'token-files',
  severity: 'error',
  description:
    'What tokens are verified by is written as it was, but the file or the upstream that it names holds something else.',
  *find(sides) {
    const [old, next] = [sides.old, sides.next].map(({ plan, manifest }) => ({
      key: plan.auth?.verifier.key,
      written: JSON.stringify(manifest.auth?.tokens),
    }));
    if (old?.written !== next?.written || old?.key === next?.key) return;
    yield { message: 'what tokens are verified by holds something else', path: ['auth', 'tokens'] };
  },
};

export const serverFiles: Comparison = {
  id: 'server-files',
  severity: 'info',
  description: "The server's certificate is written as it was, but its files hold something else.",
  *find({ old, next }) {
    const isWrittenAlike = JSON.stringify(old.manifest.server.tls) === JSON.stringify(next.manifest.server.tls);
    if (!isWrittenAlike || old.plan.server.keys.tls === next.plan.server.keys.tls) return;
    yield { message: 'the files of the certificate hold something else', path: ['server', 'tls'] };
  },
};

function tokenMethodOf({ manifest }: DiffContext['old']): string | undefined {
  return manifest.auth && Object.keys(manifest.auth.tokens)[0];
}
