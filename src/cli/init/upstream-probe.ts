import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { redactCredentials } from '../../engine/problem/redaction.ts';
import { parseHttpUrl } from '../../engine/settings/address.ts';
import { UsageError } from '../terminal.ts';

/** The address of a service and the path at which it responds. */
export interface UpstreamTarget {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
}

const EXAMPLE = 'write for example http://127.0.0.1:3000';

/** Reads the value of `--upstream`. Its path becomes the path of the first route. Throws a `UsageError` if it is no such URL. */
export function readTarget(text: string): UpstreamTarget {
  const fail = (reason: string) => new UsageError(`--upstream ${redactCredentials(text)}: ${reason}`);
  if (!/^https?:\/\//i.test(text))
    throw fail('the address begins with http:// or https://; write for example http://127.0.0.1:3000');
  const url = parseHttpUrl(text);
  if (typeof url === 'string') throw fail(`${url}; ${EXAMPLE}`);
  const { origin, pathname, search, hash } = url;
  if (search !== '' || hash !== '')
    throw fail('a route has no query and no fragment; remove everything after the path');
  const path = pathname.replace(/\/+$/, '') || '/';
  if (!/^(?:\/[A-Za-z0-9._~-]+)+$|^\/$/.test(path))
    throw fail('the path has characters that need a pattern; name a simpler path, and add the route to the manifest');
  return { origin, path };
}

const TIMEOUT_MS = 3_000;

/** Sends GET to the target. Returns the status of the response, or the code of the error. */
export function probeUpstream({ origin, path }: UpstreamTarget): Promise<number | string> {
  return new Promise((resolve) => {
    const send = origin.startsWith('https:') ? requestHttps : requestHttp;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const request = send(`${origin}${path}`, { agent: false, signal, headers: { accept: '*/*' } }, (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(signal.aborted ? `no response within ${TIMEOUT_MS / 1_000} s` : (error.code ?? error.message)),
    );
    request.end();
  });
}
