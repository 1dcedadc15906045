import { explain as explainRequest } from '../../explain/explain.ts';
import { claimsOfRole } from '../../offline/claims.ts';
import { createOfflineRequest, type OfflineRequest } from '../../offline/request-bytes.ts';
import type { CallerClaims } from '../../offline/stub-verifier.ts';
import { isMap } from '../../plan/schema/schema-walk.ts';
import {
  type AdminContext,
  type AdminRequest,
  type AdminResources,
  type AdminResponse,
  jsonResponse,
  problemDetails,
} from '../admin-endpoint.ts';

/** What `signing-gateway explain --json` prints, from the plan in force. */
export async function explain(
  { body }: AdminRequest,
  { activeManifest, adminMetrics }: AdminContext,
  serving: AdminResources,
): Promise<AdminResponse> {
  const loaded = activeManifest();
  const request = parseExplainRequest(body);
  if (typeof request === 'string') return problemDetails(400, request);
  const { request: asked, role } = request;
  if (role !== undefined && loaded.manifest.auth === undefined)
    return problemDetails(400, 'the manifest has no "auth", so nobody has a role; leave "role" out');
  const claims =
    role === undefined ? request.claims : loaded.manifest.auth && claimsOfRole(loaded.manifest.auth.role, role);
  if (running >= MAX_RUNNING) {
    adminMetrics.recordRefusal('/explain');
    return problemDetails(503, 'too many requests are being explained', { 'Retry-After': '1' });
  }
  running += 1;
  try {
    return jsonResponse(await explainRequest(loaded, asked, claims, (steps) => serving.cpuBudget.runInSlices(steps)));
  } finally {
    running -= 1;
  }
}

/** Each runs a gateway in memory. */
const MAX_RUNNING = 4;
let running = 0;

interface ExplainRequest {
  readonly request: OfflineRequest;
  readonly role: string | undefined;
  readonly claims: CallerClaims | undefined;
}

const EXPECTED_BODY =
  'send {"method": "GET", "url": "/api/contacts"}, and what is needed of "headers", "body", "role" and "claims"';

/** A sentence when it is no such request. */
function parseExplainRequest(bytes: Buffer): ExplainRequest | string {
  const given = parseJson(bytes);
  if (!isMap(given)) return EXPECTED_BODY;
  const { method, url, headers = {}, body, role, claims, ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `unknown member "${unknown}"; ${EXPECTED_BODY}`;
  if (typeof method !== 'string' || typeof url !== 'string') return EXPECTED_BODY;
  if (!isMap(headers) || !Object.values(headers).every((value) => typeof value === 'string'))
    return '"headers" is a map of names to texts';
  if (body !== undefined && typeof body !== 'string') return '"body" is a text, as it would be sent';
  if (role !== undefined && typeof role !== 'string') return '"role" is a text';
  if (claims !== undefined && !isMap(claims)) return '"claims" is a map';
  if (role !== undefined && claims !== undefined) return 'say who calls once: "role" or "claims"';
  const written = Object.entries(headers).flat() as string[];
  if (/[\r\n]/.test([method, url, ...written].join(''))) return 'a line break ends a line of a request';
  const request = createOfflineRequest(method, url, written, body === undefined ? undefined : Buffer.from(body));
  return { request, role, claims };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
