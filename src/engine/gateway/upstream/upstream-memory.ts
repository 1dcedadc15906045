import { type ConnectionLimitMemory, connectionLimitMemory } from '../../http1/connection-limit.ts';
import { type WaitingMemory, waitingMemory } from '../../http1/waiting-requests.ts';
import type { Upstream } from '../../settings/upstream-definition.ts';
import { type BufferDefinition, type BufferParts, bytesOf } from '../../shared-memory/buffer-parts.ts';
import { type TextMemory, textMemory } from '../../shared-memory/shared-text.ts';
import { workerCounterMemory } from '../../shared-memory/worker-counter.ts';
import { type BreakerMemory, breakerMemory } from '../circuit-breaker/circuit-breaker.ts';
import { type HealthCheckMemory, healthCheckMemory } from './health-check.ts';
import { type ObservedHealthMemory, observedHealthMemory } from './observed-health.ts';

/** The state of an endpoint that all workers share. */
export interface EndpointMemory {
  readonly connections: ConnectionLimitMemory;
  /** `undefined` without a breaker. */
  readonly breaker: BreakerMemory | undefined;
  readonly observed: ObservedHealthMemory;
  readonly check: HealthCheckMemory;
  /** 1 after the log reported it unhealthy. */
  readonly isReported: Int32Array;
  /** The latest event of the resolution of its name. */
  readonly resolution: TextMemory;
  readonly abandoned: Float64Array;
}

/** The state of an upstream that all workers share. */
interface UpstreamMemory {
  readonly waiting: WaitingMemory;
  readonly retries: Float64Array;
  readonly endpoints: readonly EndpointMemory[];
}

/** @param workers the number of workers */
export function upstreamMemory(parts: BufferParts, upstream: Upstream, workers: number): UpstreamMemory {
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

function endpointMemory(parts: BufferParts, { breaker }: Upstream, workers: number): EndpointMemory {
  return {
    connections: connectionLimitMemory(parts, workers),
    breaker: breaker && breakerMemory(parts, breaker),
    observed: observedHealthMemory(parts, workers),
    check: healthCheckMemory(parts),
    isReported: parts.int32(1),
    resolution: textMemory(parts),
    abandoned: workerCounterMemory(parts, workers),
  };
}
