import { FairSemaphore } from '../gateway/fairness/fair-semaphore.ts';
import type { TokenVerifier } from './token-method.ts';
import { type CachedRejection, MAX_NETWORK_REQUESTS, type NetworkVerifier } from './verifier.ts';

/**
 * Creates a verifier that leaves each verification to the main thread.
 *
 * @param local verifies tokens when the main thread no longer has the verifier: for requests that began before a reload
 */
export function createDelegatedVerifier(network: NetworkVerifier, local: TokenVerifier): TokenVerifier {
  const requests = new FairSemaphore(MAX_NETWORK_REQUESTS);
  const verify: TokenVerifier['verify'] = async (token, context) => {
    const { clientKey, signal } = context;
    if (!requests.tryAcquire(clientKey)) return unavailable('too_many_requests');
    try {
      return await network.verify(token, clientKey === undefined ? undefined : { key: clientKey, signal });
    } catch {
      return signal.aborted ? unavailable('client_disconnected') : await local.verify(token, context);
    } finally {
      requests.release(clientKey);
    }
  };
  return { verify, isRemote: true, isDelegated: true };
}

function unavailable(cause: string): CachedRejection {
  return { code: 'keys_unavailable', cause };
}
