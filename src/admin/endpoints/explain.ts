import { parseJson, truncatePointer } from '../../engine/json-pointer.ts';
import { isMap } from '../../engine/schema/schema-walk.ts';
import { tokenEntries } from '../../engine/tokens/token-entries.ts';
import { validateJson } from '../../engine/validation/request-rules.ts';
import { explain as explainRequest } from '../../prove/explain/explain-request.ts';
import { createOfflineRequest } from '../../prove/offline/request-bytes.ts';
import { callerOfRole } from '../../prove/offline/role-claims.ts';
import { busyResponse, jsonResponse, problemDetails, type Respond } from '../admin-endpoint.ts';

/**
 * The offline gateway handles a request in one turn of the event loop, and pads a body that is shorter than its `Content-Length`. Requests
 * within these limits take a few milliseconds.
 */
const MAX_REQUEST_BYTES = 65_536;
const MAX_HEADERS = 500;
const ELSEWHERE = 'explain a larger request with `signing-gateway explain`';

/** Explains a request with the active plan. The response has the format of `signing-gateway explain --json`. */
export const explain: Respond = async ({ body }, { activeManifest, adminMetrics }, { cpuBudget, explanations }) => {
  const planned = activeManifest();
  if (body.length > MAX_REQUEST_BYTES)
    return problemDetails(413, `the body is longer than ${MAX_REQUEST_BYTES} bytes; ${ELSEWHERE}`);
  const parsed = parseExplainRequest(body);
  if (typeof parsed === 'string') return problemDetails(400, parsed);
  const { request, role } = parsed;
  const { auth } = planned.manifest;
  if (role !== undefined && auth === undefined)
    return problemDetails(400, 'the manifest has no "auth", so callers have no role; remove "role"');
  const names = tokenEntries(auth).flatMap(({ name }) => name ?? []);
  if (parsed.issuer !== undefined && !names.includes(parsed.issuer))
    return problemDetails(400, `the manifest has no token method "${truncatePointer(parsed.issuer)}"; remove "issuer"`);
  const { claims, issuer } = role === undefined ? parsed : callerOfRole(planned.manifest, role, parsed.issuer);
  const explanation = await explanations(() =>
    explainRequest(planned, request, claims, (steps) => cpuBudget.runInSlices(steps), issuer),
  );
  if (explanation === undefined) return busyResponse(adminMetrics, '/explain', 'too many requests are being explained');
  return jsonResponse(explanation);
};

const EXPECTED_BODY =
  'send {"method": "GET", "url": "/api/contacts"}; "headers", "body", "role", "claims" and "issuer" are optional';

/** Returns a message if the bytes are not a valid request. */
function parseExplainRequest(bytes: Buffer) {
  // Deep nesting would overflow the stack.
  const [violation] = validateJson(() => [], bytes);
  if (violation !== undefined) {
    const place = violation.pointer === '' ? 'the body' : `the value at "${violation.pointer}"`;
    return `${place} ${violation.message}; ${EXPECTED_BODY}`;
  }
  const value = parseJson(bytes.toString());
  if (!isMap(value)) return EXPECTED_BODY;
  const { method, url, headers = {}, body, role, claims, issuer, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `unknown member "${unknown}"; ${EXPECTED_BODY}`;
  if (typeof method !== 'string' || typeof url !== 'string') return EXPECTED_BODY;
  if (!isMap(headers) || !Object.values(headers).every((value) => typeof value === 'string'))
    return '"headers" must be an object with string values';
  if (body !== undefined && typeof body !== 'string') return '"body" must be a string';
  if (role !== undefined && typeof role !== 'string') return '"role" must be a string';
  if (issuer !== undefined && typeof issuer !== 'string') return '"issuer" must be a string';
  if (claims !== undefined && !isMap(claims)) return '"claims" must be an object';
  if (role !== undefined && claims !== undefined) return '"role" and "claims" exclude each other; remove one of them';
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) return `there are more than ${MAX_HEADERS} headers; ${ELSEWHERE}`;
  if (names.some((name) => name.toLowerCase() === 'content-length' && Number(headers[name]) > MAX_REQUEST_BYTES))
    return `"Content-Length" is more than ${MAX_REQUEST_BYTES}; ${ELSEWHERE}`;
  const headerLines = Object.entries(headers).flat() as string[];
  if (/[\r\n]/.test([method, url, ...headerLines].join('')))
    return 'the method, the URL and headers must not contain line breaks';
  const request = createOfflineRequest(method, url, headerLines, body === undefined ? undefined : Buffer.from(body));
  return { request, role, claims, issuer };
}
