import { expect, test } from 'vitest';
import { lint } from '../../src/check/lint/lint.ts';
import { load } from '../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../src/engine/manifest/source.ts';
import { createPair } from '../support/certificate.ts';

/** Returns the message about an authority of an upstream, with the dates as `DATE`. */
function messagesOf(file: string): string[] {
  const text = `version: 1
upstreams: { up: { url: https://127.0.0.1:9, tls: { ca: a.pem } } }
routes: [{ id: one, method: GET, path: /one, upstream: up, access: public }]
`;
  const loaded = load({ path: 'gateway.yaml', text }, createMemoryEnvironment({}, { 'a.pem': file }));
  const found = lint(loaded).filter(({ rule }) => rule === 'certificate-validity');
  return found.map(({ message }) => message.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'DATE'));
}

const NAMED = 'the certificate "CN=old root" in this file';
const EXPIRED = `${NAMED} expired on DATE; renew or remove it`;
const SOON = `${NAMED} expires on DATE; renew or remove it`;
const EARLY = `${NAMED} is not valid before DATE; renew or remove it`;
const MINUTE = 1 / 1_440;

test.each([
  ['expired a day ago', { days: -1 }, [EXPIRED]],
  ['expired a minute ago', { days: -MINUTE }, [EXPIRED]],
  ['expires in an hour', { days: 60 * MINUTE }, [SOON]],
  ['expires in 13 days', { days: 13 }, [SOON]],
  ['expires in 15 days', { days: 15 }, []],
  ['becomes valid in an hour', { days: 90, start: 60 * MINUTE }, [EARLY]],
  ['becomes valid tomorrow and expires soon', { days: 2, start: 1 }, [EARLY]],
])('a certificate that %s', (_name, options, expected) => {
  const { certificate } = createPair({ name: 'old root', ...options });
  expect(messagesOf(certificate)).toEqual(expected);
  const valid = createPair().certificate;
  expect(messagesOf(certificate + valid)).toEqual(expected);
  expect(messagesOf(valid + certificate)).toEqual(expected);
});
