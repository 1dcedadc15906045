import type { CancellablePromise, ValidationResult } from '../../validation/body-rule.ts';
import type { Exchange } from '../exchange.ts';
import { gatewayBusy } from '../response/refusal.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';

/**
 * Waits for a validation in another thread, and cancels it when the client disconnects.
 *
 * @throws Refusal `gateway_busy`; ClientDisconnected
 */
export async function awaitValidation(exchange: Exchange, work: CancellablePromise): Promise<ValidationResult> {
  const result = await untilClientDisconnects(exchange, work);
  if (result.overload !== undefined) exchange.refuseOrReport(gatewayBusy(result.overload));
  return result;
}

/** Waits for any work that can be cancelled, and cancels it when the client disconnects. @throws ClientDisconnected */
export async function untilClientDisconnects<Result>(
  exchange: Exchange,
  work: CancellablePromise<Result>,
): Promise<Result> {
  exchange.work = work;
  if (exchange.response.isOver) work.cancel();
  const result = await work;
  exchange.work = undefined;
  if (exchange.response.isOver) throw new ClientDisconnected();
  return result;
}
