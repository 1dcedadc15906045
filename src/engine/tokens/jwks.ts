import { parseStrictJson } from '../validation/strict-json.ts';
import { readKeySet, type VerificationKeySet } from './key-set.ts';
import { sendIdentityRequest } from './send-identity-request.ts';

/** Fetches the JSON Web Key Set at a URL (RFC 7517). Rejects if it cannot be read. */
export async function fetchKeySet(
  url: URL,
  algorithms: readonly string[],
  signal: AbortSignal,
): Promise<VerificationKeySet> {
  const headers = { Accept: 'application/jwk-set+json, application/json' };
  const { status, body } = await sendIdentityRequest({ url, headers }, signal);
  if (status !== 200) throw new Error(`keys_status_${status}`);
  return readKeySet(parseJsonDocument(body), algorithms).keys;
}

/** Parses strict JSON. The manifest names the URL of the document, so any media type is accepted. */
export function parseJsonDocument(body: Buffer): unknown {
  const parsed = parseStrictJson(body);
  if ('violation' in parsed) throw new Error('response_not_json');
  return parsed.value;
}
