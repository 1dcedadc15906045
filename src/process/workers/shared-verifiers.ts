import type { Plan } from '../../engine/plan/plan.ts';
import type { WorkerContext } from '../../engine/shared-memory/worker-context.ts';
import type { MethodVerifier } from '../../engine/tokens/verifier.ts';
import type { MainRequests, VerifierNetwork } from './messages.ts';
import type { Requests, ThreadChannel } from './thread-channel.ts';

export type SharedVerifiers = ReturnType<typeof createSharedVerifiers>;

/** The verifiers of the main thread, which send the requests to identity services for all workers. */
export function createSharedVerifiers(context: WorkerContext) {
  /** By key. Plans and requests keep the verifiers in memory; later requests of other threads are verified there. */
  const verifiers = new Map<string, WeakRef<MethodVerifier>>();
  return { add, addCandidate, serve };

  /** Adds the verifiers of a plan. Call it before another thread compiles the plan. */
  function add({ auth }: Plan): void {
    for (const [key, verifier] of verifiers) if (verifier.deref() === undefined) verifiers.delete(key);
    for (const verifier of auth?.verifier.methods ?? []) set(verifier);
  }

  /** Adds the verifiers of a candidate, unless another plan has one with its key: that one would lose its requests and its counts. */
  function addCandidate({ auth }: Plan): void {
    for (const verifier of auth?.verifier.methods ?? [])
      if (verifiers.get(verifier.key)?.deref() === undefined) set(verifier);
  }

  function set(verifier: MethodVerifier): void {
    verifier.share(context);
    verifiers.set(verifier.key, new WeakRef(verifier));
  }

  /** Handles the requests of a worker. */
  function serve(channel: ThreadChannel<Requests, MainRequests>): void {
    channel.handle('signingKeys', ({ verifier, request }) => find(verifier).keys(request));
    channel.handle('verifyToken', ({ verifier, token, clientKey: key }, signal) =>
      find(verifier).verify(token, { key, signal }),
    );
  }

  /** @throws Error if no plan and no request uses the verifier */
  function find(key: string): VerifierNetwork {
    const network = verifiers.get(key)?.deref()?.network;
    if (network === undefined) throw new Error('the main thread does not have this verifier');
    return network;
  }
}

/** Creates the verifier of the main thread with a key, as seen from another thread. */
export function createMainThreadVerifier(
  channel: ThreadChannel<MainRequests, Requests>,
  verifier: string,
): VerifierNetwork {
  return {
    keys: (request) => channel.request('signingKeys', { verifier, request }),
    verify: (token, { key, signal }) => channel.request('verifyToken', { verifier, token, clientKey: key }, signal),
  };
}
