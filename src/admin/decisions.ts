import { type Answer, type Call, fault, type Operated, type Serving } from './call.ts';
import { readFilter } from './decision-filter.ts';

/**
 * Streams a decision for each request as it ends, as server-sent events `decision`, and `skipped` with the number of
 * decisions that were too many to send. `?filter=` has words that must all be found in a decision, `?only=refused` leaves
 * out requests that passed.
 */
export function decisions({ query, peer }: Call, { counts }: Operated, { streams }: Serving): Answer {
  const filter = readFilter(query);
  if (typeof filter === 'string') return fault(400, filter);
  if (!streams.hasRoomFor(peer)) {
    counts.refused('/decisions');
    return fault(503, 'too many streams of decisions are open; close one of the others', { 'Retry-After': '5' });
  }
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream' },
    body: (response) => streams.open(filter, peer, response),
  };
}
