import { sizeBytes } from '../../manifest/units.ts';
import { findingAt, type Rule } from '../rule.ts';

/** Such a body is read whole: so much memory may each request take. */
const WHOLE_BYTES = 32 * 1024 ** 2;
const STREAMED_BYTES = 1024 ** 3;

export const bodyLarge: Rule = {
  id: 'body-large',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'What is judged is read whole first: a few large bodies at once take all the memory there is.',
  *find({ routes }) {
    for (const { entry, route, path } of routes) {
      const { body, login } = entry;
      const isWhole = body?.schema !== undefined;
      if (body !== undefined && sizeBytes(body.maxBytes) > (isWhole ? WHOLE_BYTES : STREAMED_BYTES))
        yield findingAt(
          [...path, 'body', 'maxBytes'],
          sizeMessage(body.maxBytes, isWhole ? 'read whole' : 'let through'),
        );
      if (login !== undefined && (route.login?.limitBytes ?? 0) > WHOLE_BYTES)
        yield findingAt([...path, 'login', 'maxBytes'], sizeMessage(login.maxBytes, 'held back'));
    }
  },
};

function sizeMessage(size: string, what: string): string {
  return `${size} is ${what} for each request; write ${what === 'let through' ? '1GB' : '32MB'} or less`;
}
