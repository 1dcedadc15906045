import { busyResponse, problemDetails, type Respond } from '../admin-endpoint.ts';
import { parseFilter } from '../request-event-filter.ts';

/**
 * Streams one server-sent event `decision` for each request when it ends, and `skipped` events with the number of
 * decisions beyond the rate limit. `?filter=` selects decisions that contain all its words; `?only=refused` selects
 * refused requests, `?only=failed` those with a 5xx response.
 */
export const decisions: Respond = ({ query, peerAddress }, { adminMetrics }, { eventStreams }) => {
  const filter = parseFilter(query);
  if (typeof filter === 'string') return problemDetails(400, filter);
  if (!eventStreams.hasCapacityFor(peerAddress))
    return busyResponse(adminMetrics, '/decisions', 'too many streams of decisions are open; close another stream', 5);
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream' },
    body: (response) => eventStreams.open(filter, peerAddress, response),
  };
};
