/**
 * @import { Json } from '../admin-endpoint.ts'
 * @import { RequestEventMessage } from '../request-event-stream.ts'
 * @import { Explanation } from '../../explain/explanation.ts'
 * @import { RouteTable } from '../endpoints/routes.ts'
 * @import { AdminStatus } from '../endpoints/status.ts'
 * @import { TrafficHistoryResponse, RecentTrafficResponse } from '../endpoints/traffic.ts'
 */

/**
 * What is answered, by the path that is asked for.
 *
 * @typedef {{
 *   status: Json<AdminStatus>,
 *   routes: Json<RouteTable>,
 *   traffic: Json<RecentTrafficResponse>,
 *   history: Json<TrafficHistoryResponse>,
 *   explain: Json<Explanation>,
 * }} Answers
 *
 * @typedef {Json<RequestEventMessage>} ToldEvent
 */

/** The admin token, for as long as the tab is open: where it goes is told nobody else. */
const KEPT = 'signing-gateway-admin-token';
const LIMIT_MS = 15_000;

/** What was answered is not what was asked for. */
export class Refused extends Error {
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
  return sessionStorage.getItem(KEPT) !== null;
}

/** @param {string} token empty: it is forgotten */
export function keepToken(token) {
  if (token === '') sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, token);
}

/**
 * Asks the operators' side; with a body it is POST.
 *
 * @template {keyof Answers} Path
 * @param {Path} path relative to the page, so that it may stand behind a prefix
 * @param {object} [body] sent as JSON
 * @returns {Promise<Answers[Path]>}
 */
export async function ask(path, body) {
  const posted = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(path, { ...posted, headers: authorization(), signal: AbortSignal.timeout(LIMIT_MS) });
  if (!answer.ok) throw await refusedBy(answer);
  return answer.json();
}

/**
 * The server-sent events of an address. `EventSource` could not show the token.
 *
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<ToldEvent>}
 */
export async function* events(path, signal) {
  const answer = await fetch(path, { headers: authorization(), signal });
  if (!answer.ok || answer.body === null) throw await refusedBy(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
      if (name === undefined || data === undefined) continue;
      const event = /** @type {ToldEvent} */ ({ name, data: JSON.parse(data) });
      yield event;
    }
  }
}

/** @returns {Record<string, string>} */
function authorization() {
  const token = sessionStorage.getItem(KEPT);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

/** @param {Response} answer */
async function refusedBy(answer) {
  const detail = await answer.json().then(
    (/** @type {{ detail?: string }} */ problem) => problem.detail,
    () => undefined,
  );
  return new Refused(answer.status, detail ?? `answered ${answer.status}`);
}
