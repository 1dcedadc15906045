import type { CancellablePromise, ValidationResult } from '../../validation/request-rules.ts';
import { gatewayBusy, type Refusal } from '../response/refusal.ts';
import { ClientDisconnected } from '../upstream/upstream-error.ts';

/** Work for a client. */
export interface CancellableWork {
  cancel(): void;
}

/** An exchange that waits for work in another thread. */
export interface WaitingExchange {
  /** Cancelled if the client disconnects. */
  work: CancellableWork | undefined;
  readonly response: { readonly isOver: boolean };
  /** Refuses the request, unless its route only reports. @throws Refusal */
  refuseOrReport(refusal: Refusal): void;
}

/**
 * Waits for a validation in another thread, and cancels it when the client disconnects.
 *
 * @throws Refusal `gateway_busy`; ClientDisconnected
 */
export async function awaitValidation(exchange: WaitingExchange, work: CancellablePromise): Promise<ValidationResult> {
  const result = await untilClientDisconnects(exchange, work);
  if (result.overload !== undefined) exchange.refuseOrReport(gatewayBusy(result.overload));
  return result;
}

/** Waits for any work that can be cancelled, and cancels it when the client disconnects. @throws ClientDisconnected */
export async function untilClientDisconnects<Result>(
  exchange: WaitingExchange,
  work: CancellablePromise<Result>,
): Promise<Result> {
  exchange.work = work;
  if (exchange.response.isOver) work.cancel();
  const result = await work;
  exchange.work = undefined;
  if (exchange.response.isOver) throw new ClientDisconnected();
  return result;
}
