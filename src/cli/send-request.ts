import * as http from 'node:http';
import * as https from 'node:https';

/** Sends a request on a connection of its own. Resolves to the response when its head has arrived. */
export function sendRequest(url: string, options: https.RequestOptions, body?: Buffer): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? https.request : http.request;
    send(url, { ...options, agent: false }, resolve)
      .on('error', reject)
      .end(body);
  });
}

/** Returns the code of an error of the system, and any other error as a text. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
