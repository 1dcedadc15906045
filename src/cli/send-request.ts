import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as https from 'node:https';
import { loadHttp } from '../engine/node-internals/built-in-modules.ts';
import { CommandError } from './terminal.ts';

/** The environment variable with the token of the admin API: an argument would be visible to other users of the machine. */
export const TOKEN_VARIABLE = 'SIGNING_GATEWAY_ADMIN_TOKEN';

/** Sends a request on a connection of its own. Resolves to the response when its head has arrived. */
export function sendRequest(url: string, options: https.RequestOptions, body?: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? https.request : loadHttp().request;
    send(url, { ...options, agent: false }, resolve)
      .on('error', reject)
      .end(body);
  });
}

/** Trusts only this certificate, by its fingerprint: the names in it are those that other machines use. */
export function pinnedCertificate(certificate: string | undefined): https.RequestOptions {
  if (certificate === undefined) return {};
  const { fingerprint256 } = new X509Certificate(certificate);
  const checkServerIdentity: https.RequestOptions['checkServerIdentity'] = (_host, peer) =>
    peer.fingerprint256 === fingerprint256
      ? undefined
      : new CommandError('the gateway presents another certificate than that of the manifest; use --url');
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity };
}
