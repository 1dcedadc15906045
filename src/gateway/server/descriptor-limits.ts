import type { Plan } from '../../plan/plan.ts';

/** Connections of the admin API. */
const ADMIN_CONNECTIONS = 256;
/** Descriptors for files, threads, the log and the runtime itself. */
const RESERVED_DESCRIPTORS = 64;

/** Returns how many file descriptors the limits of a plan allow to be needed. */
export function requiredDescriptors(plan: Plan): number {
  return (
    plan.server.maxConnections +
    maxUpstreamConnections(plan) +
    (plan.admin === undefined ? 0 : ADMIN_CONNECTIONS) +
    RESERVED_DESCRIPTORS
  );
}

/** Connections that are kept open at one time. */
export interface DescriptorLimits {
  readonly clients: number;
  /** To upstreams; beyond it, idle connections are closed for new ones. */
  readonly upstreams: number;
}

/**
 * Divides the file descriptors of a process. Where a plan allows more connections than there are descriptors, clients get no
 * more than half of what the rest of the process leaves: each request may take a connection to an upstream too. A process
 * without a free descriptor answers no probe, and reloads nothing.
 *
 * @param limit file descriptors of the process
 */
export function descriptorLimits(plan: Plan, limit: number): DescriptorLimits {
  // Even the smallest process opens about 30.
  const own = Math.min(RESERVED_DESCRIPTORS, Math.floor((limit * 3) / 4));
  const rest = limit - own - adminConnectionLimit(limit);
  const share = Math.max(1, Math.floor(rest / 2), rest - maxUpstreamConnections(plan));
  const clients = Math.min(plan.server.maxConnections, share);
  return { clients, upstreams: Math.max(1, rest - clients) };
}

/** Returns how many connections the admin API keeps at one time. */
export function adminConnectionLimit(limit: number): number {
  return Math.min(ADMIN_CONNECTIONS, Math.floor(limit / 8));
}

function maxUpstreamConnections({ upstreams }: Plan): number {
  return upstreams.reduce((sum, { endpoints, connectionLimit }) => sum + endpoints.length * connectionLimit, 0);
}
