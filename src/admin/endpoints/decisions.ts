import {
  type AdminContext,
  type AdminRequest,
  type AdminResources,
  type AdminResponse,
  problemDetails,
} from '../admin-endpoint.ts';
import { parseFilter } from '../request-event-filter.ts';

/**
 * Streams a decision for each request as it ends, as server-sent events `decision`, and `skipped` with the number of
 * decisions that were too many to send. `?filter=` has words that must all be found in a decision, `?only=refused` leaves
 * out requests that passed.
 */
export function decisions(
  { query, peerAddress }: AdminRequest,
  { adminMetrics }: AdminContext,
  { eventStreams }: AdminResources,
): AdminResponse {
  const filter = parseFilter(query);
  if (typeof filter === 'string') return problemDetails(400, filter);
  if (!eventStreams.hasCapacityFor(peerAddress)) {
    adminMetrics.recordRefusal('/decisions');
    return problemDetails(503, 'too many streams of decisions are open; close one of the others', {
      'Retry-After': '5',
    });
  }
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream' },
    body: (response) => eventStreams.open(filter, peerAddress, response),
  };
}
