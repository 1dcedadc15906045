import type { Plan } from '../../plan/plan.ts';
import { ADMIN_CONNECTIONS, adminConnectionLimit } from './client-server.ts';

/** Descriptors for files, threads, the log and the runtime. */
const RESERVED_DESCRIPTORS = 64;
/** Descriptors for the event loop and the listener of each further worker, which opens five. */
const RESERVED_PER_WORKER = 8;

/** Returns the number of file descriptors that the process needs at the limits of a plan. @param workers the number of workers */
export function requiredDescriptors(plan: Plan, workers = 1): number {
  return (
    plan.server.maxConnections +
    maxUpstreamConnections(plan) +
    (plan.admin === undefined ? 0 : ADMIN_CONNECTIONS) +
    reservedDescriptors(workers)
  );
}

/** Limits on open connections. */
interface DescriptorLimits {
  readonly clients: number;
  /** Beyond this limit, the gateway closes an idle upstream connection for each new one. */
  readonly upstreams: number;
}

/**
 * Divides the file descriptors of a process. If a plan allows more connections than there are descriptors, clients get at
 * most half of the available ones, because each request may need an upstream connection too. A process without free
 * descriptors can neither respond to health checks nor reload.
 *
 * @param limit the file descriptor limit of the process
 * @param workers the number of workers
 */
export function descriptorLimits(plan: Plan, limit: number, workers = 1): DescriptorLimits {
  // A minimal process opens about 30.
  const reserved = Math.min(reservedDescriptors(workers), Math.floor((limit * 3) / 4));
  const available = limit - reserved - (plan.admin === undefined ? 0 : adminConnectionLimit(limit));
  const share = Math.max(1, Math.floor(available / 2), available - maxUpstreamConnections(plan));
  const clients = Math.min(plan.server.maxConnections, share);
  return { clients, upstreams: Math.max(1, available - clients) };
}

function reservedDescriptors(workers: number): number {
  return RESERVED_DESCRIPTORS + (workers - 1) * RESERVED_PER_WORKER;
}

function maxUpstreamConnections({ upstreams }: Plan): number {
  return upstreams.reduce((sum, { endpoints, connectionLimit }) => sum + endpoints.length * connectionLimit, 0);
}
