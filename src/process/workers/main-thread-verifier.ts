import type { NetworkVerifier } from '../../engine/tokens/verifier.ts';
import type { MainRequests } from './messages.ts';
import type { Requests, ThreadChannel } from './thread-channel.ts';

/** Creates the verifier of the main thread with a key, as seen from another thread. */
export function createMainThreadVerifier(
  channel: ThreadChannel<MainRequests, Requests>,
  verifier: string,
): NetworkVerifier {
  return {
    keys: (request) => channel.request('signingKeys', { verifier, request }),
    verify: (token, client) =>
      channel.request('verifyToken', { verifier, token, clientKey: client?.key }, client?.signal),
  };
}
