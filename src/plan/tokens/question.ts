/** A request to an identity service. */
export interface Question {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent by POST; a GET without it. */
  readonly form?: string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly mediaType: string;
  readonly body: Buffer;
}

/** No whole response came. The message is a short code, and nothing of the request. */
export class NoAnswer extends Error {}

/** Ends a question; a timer that is set higher would end it at once. */
export function deadline(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS));
}

/** The longest time that a timer can be set to. */
export const LONGEST_MS = 2 ** 31 - 1;
