import type { Exchange, RoutedExchange } from './exchange.ts';

/** Receives a copy of the bytes of a request body as they arrive. */
export interface BodyCopy {
  /** The chunk is valid only during the call. */
  add(chunk: Buffer): void;
}

/** Follows exchanges without taking part in them. Its functions never throw. */
export interface ExchangeObserver {
  /** Called when the gateway begins to read a body. Returns `undefined` if the observer does not need it. */
  copyBody(exchange: RoutedExchange): BodyCopy | undefined;
  /** Called once for each exchange: when it ends, or when it becomes long-lived. */
  observe(exchange: Exchange): void;
}
