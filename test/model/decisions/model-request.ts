import type { RefusalCode } from '../../../src/engine/gateway/response/refusal.ts';
import type { JsonSchema, RouteEntry } from '../../../src/engine/manifest/manifest.generated.ts';

/** A request, and the facts about it that other standards decide. */
export interface ModelRequest {
  readonly method: string;
  /** As sent: path and query, or a URL. */
  readonly target: string;
  /** In order, with `Host` and without `Authorization`. */
  readonly headers: readonly HeaderLine[];
  /** No bearer token, an invalid one, or the claims of a valid one with the name of the method that verified it. */
  readonly caller: 'none' | 'invalid' | { readonly claims: object; readonly issuer?: string | undefined };
  /** The length of the body in bytes; `undefined` without a body. */
  readonly body?: number | undefined;
  /** True if the peer is one of `server.trustedProxies`. */
  readonly isTrustedProxy?: boolean;
  /** True if a text is valid for the schema of a parameter. */
  readonly isValidParameter: (schema: JsonSchema, text: string) => boolean;
  /** True if the body meets the schema, the parts or the header row of a rule. */
  readonly isValidBody: (rule: NonNullable<RouteEntry['body']>) => boolean;
}

export type HeaderLine = readonly [name: string, value: string];

/** Thrown by the check that refuses a request. Its message is the code. */
export class ExpectedRefusal extends Error {}

export function refuse(code: RefusalCode): never {
  throw new ExpectedRefusal(code);
}

/** Returns the values of a header as one list. @param name in lower case */
export function headerOf({ headers }: ModelRequest, name: string): string | undefined {
  const values = headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** Returns the text of percent-encoded UTF-8; `undefined` for anything else. */
export function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
