import { ask, clientOf, deadline, NoAnswer, type Question, type Reply } from './ask.ts';
import { Breaker } from './breaker.ts';
import type { Endpoint } from './endpoint.ts';

const MAX_CONNECTIONS = 32;
/** Questions in flight or waiting for a connection; beyond that there is no answer in time anyway. */
const MAX_QUESTIONS = 1_000;
/** A connection that nothing is asked on is closed after this long. */
const IDLE_MS = 30_000;
/** What stands in front of an identity service says so of it; the service itself is not there to answer. */
const ABSENT = [429, 502, 503, 504];

/** Puts questions to an endpoint; throws `NoAnswer` when there is none. */
export type IdentityClient = (headers: Question['headers'], form?: string) => Promise<Reply>;

/** A client of one endpoint: a few kept connections, a time limit, a breaker. */
export function createIdentityClient({ urls, timeoutMs, tls }: Endpoint): IdentityClient {
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS };
  const { Agent } = clientOf(urls[0]);
  const agent = new Agent(options);
  const breaker = new Breaker();
  let open = 0;
  let turn = 0;
  return async (headers, form) => {
    if (open >= MAX_QUESTIONS) throw new NoAnswer('too_many_questions');
    if (!breaker.mayAsk()) throw new NoAnswer('circuit_open');
    open += 1;
    try {
      const signal = deadline(timeoutMs);
      const url = urls[turn % urls.length] as URL;
      const reply = await ask({ url, headers, agent, tls, signal, ...(form === undefined ? {} : { form }) });
      // An error that one odd token causes must not shut out all others.
      if (ABSENT.includes(reply.status)) breaker.failed();
      else breaker.succeeded();
      return reply;
    } catch (error) {
      breaker.failed();
      turn += 1;
      throw error;
    } finally {
      open -= 1;
    }
  };
}
