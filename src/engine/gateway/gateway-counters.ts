import { SharedLock } from '../shared-memory/shared-lock.ts';
import { sharedNow, type WorkerPlace } from '../shared-memory/worker-context.ts';
import { WorkerCounter } from '../shared-memory/worker-counter.ts';
import type { GatewayMemory } from './gateway-memory.ts';

/** The connections of all workers of the process. */
export class GatewayCounters {
  /** Open connections of clients. */
  readonly connections: WorkerCounter;
  /** Sockets of WebSocket handshakes and tunnels. */
  readonly tunnels: WorkerCounter;
  /** Connections that were closed because of the limit. */
  readonly refused: WorkerCounter;
  /** Connections that could not be accepted. */
  readonly unaccepted: WorkerCounter;
  readonly upstreamConnections: WorkerCounter;
  /** The total length of the standstills of the process or of one worker. */
  readonly standstillMs: WorkerCounter;
  readonly #reported: GatewayMemory['reportedStandstill'];

  constructor(memory: GatewayMemory, worker: WorkerPlace) {
    this.connections = new WorkerCounter(memory.clientConnections, worker);
    this.tunnels = new WorkerCounter(memory.tunnels, worker);
    this.refused = new WorkerCounter(memory.refused, worker);
    this.unaccepted = new WorkerCounter(memory.unaccepted, worker);
    this.upstreamConnections = new WorkerCounter(memory.upstreamConnections, worker);
    this.standstillMs = new WorkerCounter(memory.standstillMs, worker);
    this.#reported = memory.reportedStandstill;
  }

  /** Counts a standstill that ends now. Returns false if another worker has counted the same one. */
  addStandstill(ms: number): boolean {
    const { lock, at } = this.#reported;
    const now = sharedNow();
    const isFirst = new SharedLock(lock).run(() => {
      const isNew = (at[0] as number) <= now - ms;
      if (isNew) at[0] = now;
      return isNew;
    });
    if (!isFirst) return false;
    this.standstillMs.add(ms);
    return true;
  }

  /** Removes the connections of a worker that ended. Its refused connections still count. */
  forgetWorker(worker: number): void {
    for (const counter of [this.connections, this.tunnels, this.upstreamConnections]) counter.forget(worker);
  }
}
