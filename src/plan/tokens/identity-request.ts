/** A request to an identity service. */
export interface IdentityRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent by POST; a GET without it. */
  readonly form?: string | undefined;
}

export interface IdentityResponse {
  readonly status: number;
  readonly mediaType: string;
  readonly body: Buffer;
}

/** No whole response came. The message is a short code, and nothing of the request. */
export class IdentityError extends Error {}

/** Ends a question; a timer that is set higher would end it at once. */
export function timeoutSignal(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.min(timeoutMs, MAX_TIMER_MS));
}

/** The longest time that a timer can be set to. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
