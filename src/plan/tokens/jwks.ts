import { parseStrictJson } from '../body/strict-json.ts';
import { readKeySet, type VerificationKeySet } from './key-set.ts';
import { sendIdentityRequest } from './send-identity-request.ts';

/** The keys behind a URL (RFC 7517). Throws when there are none to be had. */
export async function fetchKeySet(
  url: URL,
  algorithms: readonly string[],
  signal: AbortSignal,
): Promise<VerificationKeySet> {
  const reply = await sendIdentityRequest({
    url,
    headers: { Accept: 'application/jwk-set+json, application/json' },
    signal,
  });
  if (reply.status !== 200) throw new Error(`keys_status_${reply.status}`);
  return readKeySet(parseJsonDocument(reply.body), algorithms).keys;
}

/** JSON with one reading. A document at an address of the manifest's is taken under any media type. */
export function parseJsonDocument(body: Buffer): unknown {
  const parsed = parseStrictJson(body);
  if ('violation' in parsed) throw new Error('response_not_json');
  return parsed.value;
}
