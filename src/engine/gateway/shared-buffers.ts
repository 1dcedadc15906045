import type { Plan } from '../plan/plan.ts';
import { limitBuffer } from '../rate-limits/limit-buffer.ts';
import type { BufferDefinition } from '../shared-memory/buffer-parts.ts';
import { gatewayBuffer } from './gateway-counters.ts';
import { upstreamBuffer } from './upstream/upstream-memory.ts';

/** Returns the buffers that the workers of a plan share. @param workers the number of workers */
export function sharedBuffersOf({ upstreams, rateLimits, auth }: Plan, workers: number): readonly BufferDefinition[] {
  return [
    gatewayBuffer(workers),
    ...upstreams.map((upstream) => upstreamBuffer(upstream, workers)),
    ...rateLimits.map(limitBuffer),
    ...(auth?.verifier.methods ?? []).map(({ buffer }) => buffer),
  ];
}
