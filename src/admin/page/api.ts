import type { Explanation } from '../../prove/explain/explain-request.ts';
import type { Json } from '../admin-endpoint.ts';
import type { CandidateResponse } from '../endpoints/candidate.ts';
import type { ManifestText } from '../endpoints/manifest.ts';
import type { RouteDetails, RouteTable } from '../endpoints/route.ts';
import type { AdminStatus } from '../endpoints/status.ts';
import type { RecentTrafficResponse, TrafficHistoryResponse } from '../endpoints/traffic.ts';
import type { RequestEventMessage } from '../request-event-streams.ts';

export type StreamEvent = Json<RequestEventMessage>;

/** The response bodies of the admin API, by path. */
export interface Responses {
  status: Json<AdminStatus>;
  routes: Json<RouteTable>;
  route: Json<RouteDetails>;
  traffic: Json<RecentTrafficResponse>;
  manifest: Json<ManifestText>;
  history: Json<TrafficHistoryResponse>;
  candidate: Json<CandidateResponse>;
  explain: Json<Explanation>;
}

/** The session storage item of the admin token. It exists while the tab is open, and other sites cannot read it. */
const TOKEN_ITEM = 'signing-gateway-admin-token';
const TIMEOUT_MS = 15_000;

export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

export function hasToken() {
  return sessionStorage.getItem(TOKEN_ITEM) !== null;
}

/** Stores the token. An empty one removes it. */
export function storeToken(token: string) {
  if (token === '') sessionStorage.removeItem(TOKEN_ITEM);
  else sessionStorage.setItem(TOKEN_ITEM, token);
}

/** Sends a request to a path relative to the page, which a proxy may serve under a prefix: POST with a JSON body, GET without. */
export async function fetchJson<Path extends keyof Responses>(
  path: Path,
  body?: object,
  query?: Record<string, string>,
): Promise<Responses[Path]> {
  const method = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const url = query === undefined ? path : `${path}?${new URLSearchParams(query)}`;
  const response = await fetch(url, { ...method, headers: authorization(), signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw await errorOf(response);
  return response.json();
}

/** Yields the server-sent events of a path. Uses `fetch` because `EventSource` cannot send the token. */
export async function* streamEvents(path: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
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
      const event = { name, data: JSON.parse(data) } as StreamEvent;
      yield event;
    }
  }
}

function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN_ITEM);
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

async function errorOf(response: Response) {
  const detail = await response.json().then(
    (problem: { detail?: string }) => problem.detail,
    () => undefined,
  );
  return new ApiError(response.status, detail ?? `status ${response.status}`);
}
