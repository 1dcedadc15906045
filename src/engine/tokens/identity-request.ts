/** A request to an identity service. */
export interface IdentityRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a POST request. Without a form the request is a GET. */
  readonly form?: string | undefined;
}

export interface IdentityResponse {
  readonly status: number;
  readonly mediaType: string;
  readonly body: Buffer;
}

/** The identity service sent no complete response. The message is a short code and contains no part of the request. */
export class IdentityError extends Error {}

/** Returns a signal that aborts after a time. Node runs a timer above its maximum at once. */
export function timeoutSignal(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.min(timeoutMs, MAX_TIMER_MS));
}

/** The longest time that Node accepts for a timer. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
