import { connectionLimitMemory, waitingMemory } from '../../http1/connection-limit.ts';
import type { Upstream } from '../../settings/upstream-definition.ts';
import {
  type BufferDefinition,
  type BufferParts,
  bytesOf,
  workerCounterMemory,
} from '../../shared-memory/buffer-parts.ts';
import { textMemory } from '../../shared-memory/shared-text.ts';
import { breakerMemory } from '../circuit-breaker/circuit-breaker.ts';
import { healthCheckMemory } from './health-check.ts';
import { observedHealthMemory } from './observed-health.ts';

/** Returns the state of an upstream that all workers share. @param workers the number of workers */
export function upstreamMemory(parts: BufferParts, upstream: Upstream, workers: number) {
  return {
    waiting: waitingMemory(parts, workers),
    retries: workerCounterMemory(parts, workers),
    endpoints: upstream.endpoints.map(() => endpointMemory(parts, upstream, workers)),
  };
}

/** Returns the buffer of an upstream. @param workers the number of workers */
export function upstreamBuffer(upstream: Upstream, workers: number): BufferDefinition {
  return { name: `upstream/${upstream.key}`, bytes: bytesOf((parts) => upstreamMemory(parts, upstream, workers)) };
}

function endpointMemory(parts: BufferParts, { breaker }: Upstream, workers: number) {
  return {
    connections: connectionLimitMemory(parts, workers),
    breaker: breaker && breakerMemory(parts, breaker),
    observed: observedHealthMemory(parts, workers),
    check: healthCheckMemory(parts),
    // 1 after the log reported it unhealthy.
    isReported: parts.int32(1),
    // The latest event of the resolution of its name.
    resolution: textMemory(parts),
    abandoned: workerCounterMemory(parts, workers),
  };
}

/** The state of an endpoint that all workers share. */
export type EndpointMemory = ReturnType<typeof endpointMemory>;
