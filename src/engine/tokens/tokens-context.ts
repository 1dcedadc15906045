import type { CompileContext } from '../settings/compile-context.ts';
import type { Upstreams } from '../settings/upstream.ts';
import type { NetworkVerifier } from './verifier.ts';

/** Everything that compiling `auth.tokens` needs from the rest of the manifest. */
export interface TokensContext extends CompileContext {
  readonly upstreams: Upstreams;
  /** Returns the verifier of the main thread with a key; absent in the main thread. */
  readonly networkVerifier?: ((key: string) => NetworkVerifier) | undefined;
}
