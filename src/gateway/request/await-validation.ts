import type { CancellablePromise, ValidationResult } from '../../plan/body/validation-result.ts';
import type { Exchange } from '../exchange.ts';
import { gatewayBusy } from '../response/refusal.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';

/**
 * Waits for work of another thread, and drops it when the client leaves.
 *
 * @throws Refusal `gateway_busy`; ClientGone
 */
export async function awaitValidation(exchange: Exchange, work: CancellablePromise): Promise<ValidationResult> {
  const judged = await untilClientDisconnects(exchange, work);
  if (judged.overload !== undefined) exchange.refuseOrReport(gatewayBusy(judged.overload));
  return judged;
}

/** As `resultOf`, without a look at what came of the work. @throws ClientGone */
export async function untilClientDisconnects<Result>(
  exchange: Exchange,
  work: CancellablePromise<Result>,
): Promise<Result> {
  exchange.onClientDisconnected = work.cancel;
  if (exchange.response.destroyed) work.cancel();
  const result = await work;
  exchange.onClientDisconnected = undefined;
  if (exchange.response.destroyed) throw new ClientDisconnected();
  return result;
}
