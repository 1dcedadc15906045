import type { Exchange } from '../exchange.ts';
import type { BodyCopy, ExchangeObserver } from '../exchange-observer.ts';

/** Begins the observer's copy of a body, before its first byte is read. The caller reads the body. */
export function beginBodyCopy(exchange: Exchange, observer: ExchangeObserver): BodyCopy | undefined {
  if (exchange.receivedBytes > 0 || exchange.head?.body === undefined) return undefined;
  const copy = observer.copyBody(exchange);
  if (copy === undefined) return undefined;
  const { request } = exchange;
  const add = (chunk: Buffer) => copy.add(chunk);
  request.on('data', add);
  request.on('end', () => {
    // When a response ends, Node removes the listeners and drops the rest of the body.
    if (request.listeners('data').includes(add)) copy.end();
  });
  return copy;
}

/** Gives the rest of a body that the gateway discards to the observer's copy. */
export function copyDiscardedBody(exchange: Exchange): void {
  exchange.copyBody();
  const { request, bodyCopy } = exchange;
  if (bodyCopy === undefined || !request.complete) return;
  // Node would drop the rest with the end of the response. Reading it also calls the listeners.
  while (request.read() !== null);
  bodyCopy.end();
}
