import type { Plan } from '../plan/plan.ts';

/** A buffer of shared memory. Its size depends only on the definitions in the plan. */
export interface BufferDefinition {
  readonly name: string;
  readonly bytes: number;
}

/** Returns the buffers that the workers of a plan share. */
export function sharedBuffersOf({ auth }: Plan): readonly BufferDefinition[] {
  return auth?.verifier.buffer === undefined ? [] : [auth.verifier.buffer];
}
