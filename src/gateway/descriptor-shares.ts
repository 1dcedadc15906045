import type { Plan } from '../plan/plan.ts';

/** Connections of the admin API. */
const ADMIN = 256;
/** Descriptors for files, threads, the log and the runtime itself. */
const OWN = 64;

/** Returns how many file descriptors the limits of a plan allow to be needed. */
export function descriptorsWanted(plan: Plan): number {
  return plan.server.maxConnections + wantedByUpstreams(plan) + (plan.admin === undefined ? 0 : ADMIN) + OWN;
}

/** Connections that are kept open at one time. */
export interface DescriptorShares {
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
export function descriptorShares(plan: Plan, limit: number): DescriptorShares {
  // Even the smallest process opens about 30.
  const own = Math.min(OWN, Math.floor((limit * 3) / 4));
  const rest = limit - own - adminShare(limit);
  const share = Math.max(1, Math.floor(rest / 2), rest - wantedByUpstreams(plan));
  const clients = Math.min(plan.server.maxConnections, share);
  return { clients, upstreams: Math.max(1, rest - clients) };
}

/** Returns how many connections the admin API keeps at one time. */
export function adminShare(limit: number): number {
  return Math.min(ADMIN, Math.floor(limit / 8));
}

function wantedByUpstreams({ upstreams }: Plan): number {
  return upstreams.reduce((sum, { targets, connectionLimit }) => sum + targets.length * connectionLimit, 0);
}
