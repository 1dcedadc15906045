import type { MessagePort, Transferable } from 'node:worker_threads';

/** The requests that one side of a channel handles: the value and the result of each, by name. */
export type Requests = Readonly<Record<string, { readonly value: unknown; readonly result: unknown }>>;

/** A `MessagePort`, or the `Worker` that holds its other end. */
export interface ChannelPort {
  postMessage(message: unknown, transfer?: readonly Transferable[]): void;
  on(event: 'message', listener: (message: ChannelMessage) => void): unknown;
}

type ChannelMessage =
  | { readonly kind: 'request'; readonly id: number; readonly name: string; readonly value: unknown }
  | { readonly kind: 'notice'; readonly name: string; readonly value: unknown }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: unknown };

/** Handles a request. The signal is aborted when the other side no longer waits for the result. */
type Handler<Side extends Requests, Name extends keyof Side> = (
  value: Side[Name]['value'],
  signal: AbortSignal,
) => Side[Name]['result'] | Promise<Side[Name]['result']>;

interface AnyHandler {
  readonly handler: (value: unknown, signal: AbortSignal) => unknown;
  readonly portsOf: (result: unknown) => readonly MessagePort[];
}

/** Requests and notices between two threads. `Remote` are the requests of the other side, `Local` those of this one. */
export class ThreadChannel<Remote extends Requests, Local extends Requests> {
  readonly #port: ChannelPort;
  readonly #handlers = new Map<string, AnyHandler>();
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  /** The requests of the other side in progress. */
  readonly #handling = new Map<number, AbortController>();
  #lastId = 0;
  #closeReason: Error | undefined;

  constructor(port: ChannelPort) {
    this.#port = port;
    port.on('message', (message) => this.#onMessage(message));
  }

  /** @param portsOf returns the ports in a result, which move to the other thread */
  handle<Name extends keyof Local & string>(
    name: Name,
    handler: Handler<Local, Name>,
    portsOf: (result: Local[Name]['result']) => readonly MessagePort[] = () => [],
  ): void {
    this.#handlers.set(name, { handler, portsOf } as AnyHandler);
  }

  /** Sends a request. Rejects with the error of the handler, when the signal is aborted, or when the other thread ends. */
  async request<Name extends keyof Remote & string>(
    name: Name,
    value: Remote[Name]['value'],
    signal?: AbortSignal,
  ): Promise<Remote[Name]['result']> {
    if (this.#closeReason !== undefined) throw this.#closeReason;
    signal?.throwIfAborted();
    this.#lastId += 1;
    const id = this.#lastId;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    const onAbort = () => {
      this.#port.postMessage({ kind: 'cancel', id } satisfies ChannelMessage);
      pending.reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#port.postMessage({ kind: 'request', id, name, value } satisfies ChannelMessage);
    try {
      return await pending.promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#pending.delete(id);
    }
  }

  /** Sends a request whose result and errors nobody needs. */
  notify<Name extends keyof Remote & string>(
    name: Name,
    value: Remote[Name]['value'],
    transfer: readonly Transferable[] = [],
  ): void {
    if (this.#closeReason === undefined)
      this.#port.postMessage({ kind: 'notice', name, value } satisfies ChannelMessage, transfer);
  }

  /** Rejects all requests in progress and further ones, because the other thread has ended. */
  close(reason: Error): void {
    this.#closeReason = reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    for (const controller of this.#handling.values()) controller.abort(reason);
  }

  #onMessage(message: ChannelMessage): void {
    if (message.kind === 'request') void this.#handle(message.id, message.name, message.value);
    else if (message.kind === 'notice') this.#handlers.get(message.name)?.handler(message.value, NEVER_ABORTED);
    else if (message.kind === 'cancel') this.#handling.get(message.id)?.abort();
    else if (message.kind === 'result') this.#pending.get(message.id)?.resolve(message.result);
    else this.#pending.get(message.id)?.reject(message.error);
  }

  async #handle(id: number, name: string, value: unknown): Promise<void> {
    const controller = new AbortController();
    this.#handling.set(id, controller);
    try {
      const { handler, portsOf } = this.#handlers.get(name) as AnyHandler;
      const result = await handler(value, controller.signal);
      this.#port.postMessage({ kind: 'result', id, result } satisfies ChannelMessage, portsOf(result));
    } catch (error) {
      this.#port.postMessage({ kind: 'error', id, error } satisfies ChannelMessage);
    } finally {
      this.#handling.delete(id);
    }
  }
}

const NEVER_ABORTED = new AbortController().signal;
