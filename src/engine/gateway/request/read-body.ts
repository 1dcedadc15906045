import type { BodySink, ClientRequest } from '../../http1/client-request.ts';
import { GrowingBuffer } from '../../http1/growing-buffer.ts';
import { BODYLESS_METHODS } from '../../http1/http-methods.ts';
import { hasHeader, type RawHeaders } from '../../http1/raw-headers.ts';
import type { BodyRule, ValidationResult } from '../../validation/request-rules.ts';
import { Refusal } from '../response/refusal.ts';
import { awaitValidation, type WaitingExchange } from './await-validation.ts';
import type { RequestHead } from './request-head.ts';

/** A request whose body rule is applied. */
interface BodyRequest {
  readonly request: { readonly method: string; readonly rawHeaders: RawHeaders };
  /** Refuses the request, unless its route only reports. @throws Refusal */
  refuseOrReport(refusal: Refusal): void;
}

/** An exchange whose body the gateway buffers. */
interface BufferingExchange extends WaitingExchange {
  readonly request: ClientRequest;
  /** The key of the client for its share of limited resources. */
  readonly client: string;
  receivedBytes: number;
  beginBody(): void;
  reserve(bytes: number): void;
}

/**
 * Applies the body rule of a route. Buffers, validates and returns a body that has a validator; the gateway then forwards exactly
 * the returned bytes. Returns `undefined` for any other body, which the gateway streams. Returns a promise only if it has to wait for
 * the body, or for another thread.
 *
 * @throws Refusal `media_type_unsupported`, `body_too_large`, `body_invalid` or `gateway_busy`; ClientDisconnected
 */
export function readBody(
  exchange: BufferingExchange,
  head: RequestHead,
  rule: BodyRule,
): Buffer | Promise<Buffer> | undefined {
  const { validate, limitBytes } = rule;
  const isValidated = checkBodyHead(exchange, head, rule);
  if (validate === undefined || !isValidated) return undefined;
  const bytes = bufferBody(exchange, head, limitBytes);
  if (!(bytes instanceof Promise)) return validateBody(exchange, validate, bytes);
  return bytes.then((all) => validateBody(exchange, validate, all));
}

/**
 * Applies the part of the body rule that needs no body. Returns true if the rule also applies to the bytes of the body.
 *
 * @throws Refusal `media_type_unsupported`, `body_too_large`, or `body_invalid` for a body that is missing
 */
export function checkBodyHead(facts: BodyRequest, head: RequestHead, rule: BodyRule): boolean {
  const { types, limitBytes } = rule;
  if (head.body === undefined && BODYLESS_METHODS.has(facts.request.method)) return false;
  const isAllowedType = types === undefined || hasAllowedMediaType(facts, head, rule);
  if (!isAllowedType) {
    const options = {
      detail: types.refusalDetail,
      headers: types.acceptHeader === undefined ? {} : { Accept: types.acceptHeader },
    };
    facts.refuseOrReport(new Refusal('media_type_unsupported', options));
  } else if (head.body === undefined) validateEmptyBody(facts, head, rule);
  if (typeof head.body === 'number' && head.body > limitBytes) throw new Refusal('body_too_large');
  return isAllowedType;
}

/** Validates the empty body of a request without framing. Such a request has no stream that would be validated later. */
function validateEmptyBody(facts: BodyRequest, { contentType = '' }: RequestHead, rule: BodyRule): void {
  const violation = rule.streamValidatorFor?.(contentType)?.end();
  if (violation !== undefined) facts.refuseOrReport(new Refusal('body_invalid', { errors: [violation] }));
}

/** True if the route accepts the body. Encoded bytes are not of the declared media type, so no content encoding is allowed. */
function hasAllowedMediaType(
  { request }: BodyRequest,
  { contentType, body }: RequestHead,
  { types, validate, streamValidatorFor }: BodyRule,
): boolean {
  // A request without a body needs no type, unless the route requires JSON or a form, which are never empty.
  if (contentType === undefined)
    return body === undefined && validate === undefined && streamValidatorFor === undefined;
  return types?.includes(contentType) === true && !hasHeader(request.rawHeaders, isContentEncoding);
}

/** True for any spelling: some servers read `Content_Encoding` as `Content-Encoding`. Most names differ in their length. */
function isContentEncoding(rawName: string): boolean {
  return rawName.length === 'content-encoding'.length && /^content[^a-z]encoding$/i.test(rawName);
}

type Validate = NonNullable<BodyRule['validate']>;

/** @throws Refusal `body_invalid` or `gateway_busy`; ClientDisconnected */
function validateBody(exchange: BufferingExchange, validate: Validate, bytes: Buffer): Buffer | Promise<Buffer> {
  const result = validate(bytes, exchange.client);
  if (!(result instanceof Promise)) return acceptBody(exchange, result);
  return awaitValidation(exchange, result).then((validated) => acceptBody(exchange, validated));
}

/** Returns the validated bytes. @throws Refusal */
function acceptBody(exchange: BufferingExchange, { violations, body }: ValidationResult): Buffer {
  const refusal = violations.length === 0 ? undefined : new Refusal('body_invalid', { errors: violations });
  if (refusal !== undefined) exchange.refuseOrReport(refusal);
  if (body === undefined) throw refusal ?? new Refusal('internal_error', { reason: 'body_lost' });
  return body;
}

/** Returns the complete body, or a promise of it while it arrives. @throws Refusal if it is too long, or has no room in memory */
function bufferBody(exchange: BufferingExchange, head: RequestHead, limitBytes: number): Buffer | Promise<Buffer> {
  if (head.body === undefined) return Buffer.alloc(0);
  exchange.beginBody();
  const body = new BufferedBody(exchange, Math.min(limitBytes, typeof head.body === 'number' ? head.body : limitBytes));
  exchange.request.readBody(body);
  return body.bytes;
}

/** Collects a body in memory. */
class BufferedBody implements BodySink {
  readonly #exchange: BufferingExchange;
  readonly #buffer: GrowingBuffer;
  #error: unknown;
  #isComplete = false;
  #completion: PromiseWithResolvers<Buffer> | undefined;

  constructor(exchange: BufferingExchange, limitBytes: number) {
    this.#exchange = exchange;
    this.#buffer = new GrowingBuffer(limitBytes);
  }

  get bytes(): Buffer | Promise<Buffer> {
    if (this.#error !== undefined) throw this.#error;
    if (this.#isComplete) return this.#buffer.bytes();
    this.#completion = Promise.withResolvers();
    return this.#completion.promise;
  }

  onBodyData(chunk: Buffer): void {
    if (this.#error !== undefined) return;
    this.#exchange.receivedBytes += chunk.length;
    try {
      this.#exchange.reserve(chunk.length);
      if (!this.#buffer.add(chunk)) this.#refuse(new Refusal('body_too_large'));
    } catch (error) {
      // The budget or the memory is exhausted.
      this.#refuse(error);
    }
  }

  onBodyEnd(): void {
    this.#isComplete = true;
    this.#completion?.resolve(this.#buffer.bytes());
  }

  onBodyClose(): void {
    this.#refuse(new Refusal('message_malformed', { reason: 'client_closed' }));
  }

  #refuse(reason: unknown): void {
    this.#error = reason;
    this.#completion?.reject(reason);
  }
}
