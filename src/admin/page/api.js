/**
 * @import { Json } from '../admin-endpoint.ts'
 * @import { RequestEventMessage } from '../request-event-streams.ts'
 * @import { CandidateResponse } from '../endpoints/candidate.ts'
 * @import { Explanation } from '../../prove/explain/explanation.ts'
 * @import { ManifestText } from '../endpoints/manifest.ts'
 * @import { RouteDetails } from '../endpoints/route.ts'
 * @import { RouteTable } from '../endpoints/route.ts'
 * @import { AdminStatus } from '../endpoints/status.ts'
 * @import { TrafficHistoryResponse, RecentTrafficResponse } from '../endpoints/traffic.ts'
 */

/**
 * The response bodies of the admin API, by path.
 *
 * @typedef {{
 *   status: Json<AdminStatus>,
 *   routes: Json<RouteTable>,
 *   route: Json<RouteDetails>,
 *   traffic: Json<RecentTrafficResponse>,
 *   manifest: Json<ManifestText>,
 *   history: Json<TrafficHistoryResponse>,
 *   candidate: Json<CandidateResponse>,
 *   explain: Json<Explanation>,
 * }} Responses
 *
 * @typedef {Json<RequestEventMessage>} StreamEvent
 */

/** The session storage item of the admin token. It exists while the tab is open, and other sites cannot read it. */
const TOKEN_ITEM = 'signing-gateway-admin-token';
const TIMEOUT_MS = 15_000;

/** An error response of the admin API. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} detail
   */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export function hasToken() {
  return sessionStorage.getItem(TOKEN_ITEM) !== null;
}

/** @param {string} token an empty one removes the stored token */
export function storeToken(token) {
  if (token === '') sessionStorage.removeItem(TOKEN_ITEM);
  else sessionStorage.setItem(TOKEN_ITEM, token);
}

/**
 * Sends a request to the admin API: POST with a body, GET without.
 *
 * @template {keyof Responses} Path
 * @param {Path} path relative to the page, so that a proxy may serve the page under a prefix
 * @param {object} [body] sent as JSON
 * @param {Record<string, string>} [query]
 * @returns {Promise<Responses[Path]>}
 */
export async function fetchJson(path, body, query) {
  const method = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const url = query === undefined ? path : `${path}?${new URLSearchParams(query)}`;
  const response = await fetch(url, { ...method, headers: authorization(), signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw await errorOf(response);
  return response.json();
}

/**
 * Yields the server-sent events of a path. Uses `fetch` because `EventSource` cannot send the token.
 *
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<StreamEvent>}
 */
export async function* streamEvents(path, signal) {
  const response = await fetch(path, { headers: authorization(), signal });
  if (!response.ok || response.body === null) throw await errorOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const messages = (text + value).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(message) ?? [];
      if (name === undefined || data === undefined) continue;
      const event = /** @type {StreamEvent} */ ({ name, data: JSON.parse(data) });
      yield event;
    }
  }
}

/** @returns {Record<string, string>} */
function authorization() {
  const token = sessionStorage.getItem(TOKEN_ITEM);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

/** @param {Response} response */
async function errorOf(response) {
  const detail = await response.json().then(
    (/** @type {{ detail?: string }} */ problem) => problem.detail,
    () => undefined,
  );
  return new ApiError(response.status, detail ?? `status ${response.status}`);
}
