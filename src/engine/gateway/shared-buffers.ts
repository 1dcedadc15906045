import type { Plan } from '../plan/plan.ts';
import { limitBuffer } from '../rate-limits/limit-buffer.ts';
import { gatewayBuffer } from './gateway-memory.ts';
import { upstreamBuffer } from './upstream/upstream-memory.ts';

/** A buffer of shared memory. Its size depends only on the definitions in the plan. */
export interface BufferDefinition {
  readonly name: string;
  readonly bytes: number;
  /** The size up to which it can grow. */
  readonly maxBytes?: number;
}

/** Returns the buffers that the workers of a plan share. @param workers the number of workers */
export function sharedBuffersOf({ upstreams, rateLimits, auth }: Plan, workers: number): readonly BufferDefinition[] {
  const tokens = auth?.verifier.buffer;
  return [
    gatewayBuffer(workers),
    ...upstreams.map((upstream) => upstreamBuffer(upstream, workers)),
    ...rateLimits.map(limitBuffer),
    ...(tokens === undefined ? [] : [tokens]),
  ];
}
