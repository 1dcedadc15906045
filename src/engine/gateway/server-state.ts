import type { ExchangeServer } from './exchange.ts';
import type { RequestRecorder } from './telemetry/request-recorder.ts';
import type { LiveUpstreams } from './upstream/live-upstreams.ts';

/** The parts of a server that serve its requests. */
export interface ServerState extends ExchangeServer {
  readonly recorder: RequestRecorder;
  readonly upstreams: LiveUpstreams;
}
