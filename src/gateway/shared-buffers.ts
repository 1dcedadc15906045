import type { Plan } from '../plan/plan.ts';
import { limitBuffer } from './rate-limits/limit-buffer.ts';

/** A buffer of shared memory. Its size depends only on the definitions in the plan. */
export interface BufferDefinition {
  readonly name: string;
  readonly bytes: number;
}

/** Returns the buffers that the workers of a plan share. */
export function sharedBuffersOf({ rateLimits }: Plan): readonly BufferDefinition[] {
  return rateLimits.map(limitBuffer);
}
