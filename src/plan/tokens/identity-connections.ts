import type { Socket } from 'node:net';
import { Connections } from '../../http1/connections.ts';
import { createDial, type Dial } from '../../http1/dial.ts';
import { Stale } from '../../http1/fetch-whole.ts';
import { askOn, NO_LIMITS, reasonOf, toNoAnswer } from './ask.ts';
import type { Endpoint } from './endpoint.ts';
import type { Question, Reply } from './question.ts';

/** The kept connections to the servers of one endpoint. The caller limits how many are in use at once. */
export class IdentityConnections {
  readonly #pools: readonly Connections[];

  constructor({ targets, tls }: Endpoint, connectionLimit: number) {
    this.#pools = targets.map(
      (target) =>
        new Connections(unreferenced(createDial(target, { ...NO_LIMITS, tls: () => tls })), {
          ...NO_LIMITS,
          connectionLimit,
        }),
    );
  }

  /**
   * Asks one server. Where a kept connection ends before a byte of the response came, the server may have closed it before the
   * request arrived: then once more, on a new connection.
   *
   * @param index of the server among the endpoint's targets
   * @throws NoAnswer
   */
  async ask(index: number, question: Question, signal: AbortSignal): Promise<Reply> {
    const pool = this.#pools[index] as Connections;
    try {
      if (signal.aborted) throw reasonOf(signal);
      const kept = pool.take();
      try {
        return await askThrough(pool, kept, question, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof Stale || kept.isUnanswered)) throw error;
      }
      return await askThrough(pool, pool.open(false), question, signal);
    } catch (error) {
      throw toNoAnswer(error);
    }
  }
}

async function askThrough(
  pool: Connections,
  connection: ReturnType<Connections['take']>,
  question: Question,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    const reply = await askOn(connection, question, signal);
    pool.release(connection);
    return reply;
  } catch (error) {
    pool.drop(connection);
    throw error;
  }
}

/** A kept connection must not keep a process alive that has nothing else to do; the question's own timer does while it runs. */
function unreferenced(dial: Dial): Dial {
  return (user, isStream) => {
    const socket = dial(user, isStream);
    (socket as Partial<Socket>).unref?.();
    return socket;
  };
}
