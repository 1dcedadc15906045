import type { Exchange } from './exchange.ts';

/** Receives the bytes of a request body as they arrive. */
export interface BodyCopy {
  /** The chunk is valid only during the call. */
  add(chunk: Buffer): void;
  /** Called after the last byte of a complete body. */
  end(): void;
  /** Called once the exchange needs the copy no longer. */
  release(): void;
}

/** Follows exchanges without taking part in them. Its functions never throw. */
export interface ExchangeObserver {
  /** Called when the gateway begins to read or to discard a body. Returns `undefined` if the observer does not need it. */
  copyBody(exchange: Exchange): BodyCopy | undefined;
  /** Called once for each exchange: when it ends, or when it becomes long-lived. The observer releases its copy of the body. */
  observe(exchange: Exchange): void;
}
