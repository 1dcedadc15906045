import { parseStrictJson } from '../strict-json.ts';
import { ask } from './ask.ts';
import { type KeySet, readKeySet } from './key-set.ts';

/** The keys behind a URL (RFC 7517). Throws when there are none to be had. */
export async function fetchKeySet(url: URL, algorithms: readonly string[], signal: AbortSignal): Promise<KeySet> {
  const reply = await ask({ url, headers: { Accept: 'application/jwk-set+json, application/json' }, signal });
  if (reply.status !== 200) throw new Error(`keys_answered_${reply.status}`);
  return readKeySet(readDocument(reply.body), algorithms).keys;
}

/** JSON with one reading. A document at an address of the manifest's is taken under any media type. */
export function readDocument(body: Buffer): unknown {
  const parsed = parseStrictJson(body);
  if ('fault' in parsed) throw new Error('answer_not_json');
  return parsed.value;
}
