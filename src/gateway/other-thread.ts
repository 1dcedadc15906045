import type { Judged, Validating } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import { ClientGone } from './failure.ts';
import { busy } from './refusal.ts';

/**
 * Waits for work of another thread, and drops it when the client leaves.
 *
 * @throws Refusal `gateway_busy`; ClientGone
 */
export async function resultOf(exchange: Exchange, work: Validating): Promise<Judged> {
  const judged = await untilClientLeaves(exchange, work);
  if (judged.overload !== undefined) exchange.refuseInvalid(busy(judged.overload));
  return judged;
}

/** As `resultOf`, without a look at what came of the work. @throws ClientGone */
export async function untilClientLeaves<Result>(exchange: Exchange, work: Validating<Result>): Promise<Result> {
  exchange.onClientGone = work.cancel;
  if (exchange.response.destroyed) work.cancel();
  const result = await work;
  exchange.onClientGone = undefined;
  if (exchange.response.destroyed) throw new ClientGone();
  return result;
}
