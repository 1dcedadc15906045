import { explain as explainRequest } from '../explain/explain.ts';
import { claimsOfRole } from '../offline/claims.ts';
import { type Asked, askedFor } from '../offline/request-bytes.ts';
import type { Claims } from '../offline/stated-tokens.ts';
import { isMap } from '../plan/schema-walk.ts';
import { type Answer, type Call, fault, json, type Operated, type Serving } from './call.ts';

/** What `signing-gateway explain --json` prints, from the plan in force. */
export async function explain({ body }: Call, { planned, counts }: Operated, serving: Serving): Promise<Answer> {
  const loaded = planned();
  const request = readRequest(body);
  if (typeof request === 'string') return fault(400, request);
  const { asked, role } = request;
  if (role !== undefined && loaded.manifest.auth === undefined)
    return fault(400, 'the manifest has no "auth", so nobody has a role; leave "role" out');
  const claims =
    role === undefined ? request.claims : loaded.manifest.auth && claimsOfRole(loaded.manifest.auth.role, role);
  if (running >= MAX_RUNNING) {
    counts.refused('/explain');
    return fault(503, 'too many requests are being explained', { 'Retry-After': '1' });
  }
  running += 1;
  try {
    return json(await explainRequest(loaded, asked, claims, (steps) => serving.share.finish(steps)));
  } finally {
    running -= 1;
  }
}

/** Each runs a gateway in memory. */
const MAX_RUNNING = 4;
let running = 0;

interface Explained {
  readonly asked: Asked;
  readonly role: string | undefined;
  readonly claims: Claims | undefined;
}

const FORM =
  'send {"method": "GET", "url": "/api/contacts"}, and what is needed of "headers", "body", "role" and "claims"';

/** A sentence when it is no such request. */
function readRequest(bytes: Buffer): Explained | string {
  const given = parsed(bytes);
  if (!isMap(given)) return FORM;
  const { method, url, headers = {}, body, role, claims, ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `unknown member "${unknown}"; ${FORM}`;
  if (typeof method !== 'string' || typeof url !== 'string') return FORM;
  if (!isMap(headers) || !Object.values(headers).every((value) => typeof value === 'string'))
    return '"headers" is a map of names to texts';
  if (body !== undefined && typeof body !== 'string') return '"body" is a text, as it would be sent';
  if (role !== undefined && typeof role !== 'string') return '"role" is a text';
  if (claims !== undefined && !isMap(claims)) return '"claims" is a map';
  if (role !== undefined && claims !== undefined) return 'say who calls once: "role" or "claims"';
  const written = Object.entries(headers).flat() as string[];
  if (/[\r\n]/.test([method, url, ...written].join(''))) return 'a line break ends a line of a request';
  const asked = askedFor(method, url, written, body === undefined ? undefined : Buffer.from(body));
  return { asked, role, claims };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
