import { randomInt } from 'node:crypto';
import { type BufferDefinition, BufferParts, bytesOf } from '../shared-memory/buffer-parts.ts';
import { MAX_WORKERS, type WorkerContext } from '../shared-memory/worker-context.ts';
import { workerCounterMemory } from '../shared-memory/worker-counter.ts';
import { type BufferBudgetMemory, bufferBudgetMemory } from './server/buffer-budget.ts';

/** The counts of the whole process that all workers share. Most arrays are the memory of a `WorkerCounter`. */
export interface GatewayMemory {
  readonly clientConnections: Float64Array;
  readonly tunnels: Float64Array;
  readonly refused: Float64Array;
  readonly unaccepted: Float64Array;
  readonly upstreamConnections: Float64Array;
  readonly standstillMs: Float64Array;
  readonly reportedStandstill: { readonly lock: Int32Array; readonly at: Float64Array };
  readonly pseudonym: Int32Array;
  readonly buffers: BufferBudgetMemory;
}

function gatewayMemory(parts: BufferParts, workers: number): GatewayMemory {
  return {
    clientConnections: workerCounterMemory(parts, workers),
    tunnels: workerCounterMemory(parts, workers),
    refused: workerCounterMemory(parts, workers),
    unaccepted: workerCounterMemory(parts, workers),
    upstreamConnections: workerCounterMemory(parts, workers),
    standstillMs: workerCounterMemory(parts, workers),
    reportedStandstill: { lock: parts.int32(1), at: parts.float64(1) },
    pseudonym: parts.int32(2),
    buffers: bufferBudgetMemory(parts, workers),
  };
}

/** Returns the buffer that every plan needs. @param workers the number of workers */
export function gatewayBuffer(workers: number): BufferDefinition {
  return { name: 'gateway', bytes: bytesOf((parts) => gatewayMemory(parts, workers)) };
}

/** Returns the counts that a worker shares with the others. */
export function sharedGatewayMemory({ count, memory }: WorkerContext): GatewayMemory {
  if (count > MAX_WORKERS) throw new RangeError(`a process has at most ${MAX_WORKERS} workers`);
  const { name, bytes } = gatewayBuffer(count);
  return gatewayMemory(new BufferParts(memory.buffer(name, bytes)), count);
}

const MAX_CELL = 2 ** 31 - 1;

/** Returns a random name for `Via`, which is the same in all workers. */
export function processPseudonym({ pseudonym: cells }: GatewayMemory): string {
  for (let index = 0; index < cells.length; index += 1)
    Atomics.compareExchange(cells, index, 0, randomInt(1, MAX_CELL));
  return `signing-gateway-${Array.from(cells, (cell) => cell.toString(16).padStart(8, '0')).join('')}`;
}
