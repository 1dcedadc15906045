import { sizeBytes } from '../../../engine/manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';

/** The gateway buffers these bodies: each request may use this much memory. */
const BUFFERED_BYTES = 32 * 1024 ** 2;
const STREAMED_BYTES = 1024 ** 3;

export const bodyLarge: Rule = {
  id: 'body-large',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'The gateway buffers a body before it validates it, so a few large bodies at the same time can exhaust the memory.',
  *find({ routes }) {
    for (const { entry, route, path } of routes) {
      const { body, login } = entry;
      const isBuffered = body?.schema !== undefined;
      if (body !== undefined && sizeBytes(body.maxBytes) > (isBuffered ? BUFFERED_BYTES : STREAMED_BYTES))
        yield findingAt([...path, 'body', 'maxBytes'], sizeMessage(body.maxBytes, isBuffered ? 'buffers' : 'forwards'));
      if (login !== undefined && (route.login?.limitBytes ?? 0) > BUFFERED_BYTES)
        yield findingAt([...path, 'login', 'maxBytes'], sizeMessage(login.maxBytes, 'buffers'));
    }
  },
};

function sizeMessage(size: string, action: 'buffers' | 'forwards'): string {
  return `the gateway ${action} up to ${size} for each request; write ${action === 'forwards' ? '1GB' : '32MB'} or less`;
}
