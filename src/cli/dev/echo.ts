import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LocalServer, startLocalServer } from './local-server.ts';

/** Longer bodies are counted, not repeated. */
const MAX_BODY_BYTES = 65_536;

/** Starts an upstream that responds with 200 and the request as it received it, in JSON. */
export function startEcho(port: number): Promise<LocalServer> {
  return startLocalServer(port, respond);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (length < MAX_BODY_BYTES) chunks.push(chunk);
    length += chunk.length;
  }
  const received = {
    method: request.method,
    url: request.url,
    headers: headersOf(request),
    bodyBytes: length,
    body: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString(),
  };
  const text = `${JSON.stringify(received, null, 2)}\n`;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(text);
}

/** Returns the headers with their names as sent. A repeated header has a list of values. */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string | string[]> {
  const headers = new Map<string, string[]>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return Object.fromEntries(
    [...headers].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
