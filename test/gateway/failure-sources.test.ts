import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAILURES, failureSourceOf } from '../../src/engine/gateway/upstream/upstream-error.ts';
import { HTTP1_ERROR_CODES } from '../../src/engine/http1/http1-error.ts';

const log = readFileSync(new URL('../../docs/log.md', import.meta.url), 'utf8');

describe('the source of a failure', () => {
  it('is defined for every error of the HTTP/1.1 client', () => {
    for (const code of Object.keys(HTTP1_ERROR_CODES))
      expect([code, failureSourceOf(code)]).not.toEqual([code, undefined]);
  });

  it('is documented for every failure', () => {
    const [, table = ''] = /<!-- failure-sources -->\n([\s\S]*?)<!-- \/failure-sources -->/.exec(log) ?? [];
    const rows = [...table.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, code, source]) => [code, source]);
    const sources = Object.entries(FAILURES).flatMap(([code, { source }]) =>
      source === undefined ? [] : [[code, source]],
    );
    expect(rows).toEqual(sources);
  });

  it('is the client for failures that a client can cause alone', () => {
    const causedByClient = ['response_head_too_large', 'request_malformed', 'body_too_large', 'body_invalid'];
    expect(causedByClient.map(failureSourceOf)).toEqual(causedByClient.map(() => 'client'));
  });

  it('is the gateway if this process lacks resources', () => {
    const shortages = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'];
    expect(shortages.map(failureSourceOf)).toEqual(shortages.map(() => 'gateway'));
  });

  it('is unknown for any other code', () => {
    expect([failureSourceOf('toString'), failureSourceOf('ERR_SSL_WRONG_VERSION_NUMBER')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
