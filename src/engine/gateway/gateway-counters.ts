import type { WorkerPlace } from '../shared-memory/worker-context.ts';
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

  constructor(memory: GatewayMemory, worker: WorkerPlace) {
    this.connections = new WorkerCounter(memory.clientConnections, worker);
    this.tunnels = new WorkerCounter(memory.tunnels, worker);
    this.refused = new WorkerCounter(memory.refused, worker);
    this.unaccepted = new WorkerCounter(memory.unaccepted, worker);
    this.upstreamConnections = new WorkerCounter(memory.upstreamConnections, worker);
  }

  /** Removes the connections of a worker that ended. Its refused connections still count. */
  forgetWorker(worker: number): void {
    for (const counter of [this.connections, this.tunnels, this.upstreamConnections]) counter.forget(worker);
  }
}
