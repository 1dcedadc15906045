import type { Exchange } from './exchange.ts';
import { Broken } from './failure.ts';
import { type AnswerControl, type AnswerReceiver, fittingHeaders, without } from './receiver.ts';
import { Refusal } from './refusal.ts';
import { refuse } from './refuse.ts';

/** A whole answer that something must be learnt from before it goes on. */
export interface Answer {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: readonly string[];
  /** As the upstream sent it, content encoding included. */
  readonly body: Buffer;
}

/** An answer that is held back until `judge` has let it pass; `judge` throws a refusal otherwise. */
export class HeldAnswer implements AnswerReceiver {
  readonly #exchange: Exchange;
  readonly #judge: (answer: Answer) => Promise<void>;
  readonly #limitBytes: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #statusMessage = '';
  #headers: readonly string[] = [];

  constructor(exchange: Exchange, limitBytes: number, judge: (answer: Answer) => Promise<void>) {
    this.#exchange = exchange;
    this.#limitBytes = limitBytes;
    this.#judge = judge;
  }

  onResponseStart(control: AnswerControl, status: number, _headers: unknown, statusMessage = ''): void {
    // What the answer will be is not known yet to be let out.
    if (status < 200) return;
    this.#status = status;
    this.#statusMessage = statusMessage;
    this.#headers = without(fittingHeaders(control.rawHeaders as Buffer[], this.#exchange, status), 'trailer');
  }

  onResponseData(control: AnswerControl, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#limitBytes) control.abort(tooLong());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    void this.#finish();
  }

  async #finish(): Promise<void> {
    const exchange = this.#exchange;
    exchange.answeredAt = exchange.elapsedMs();
    const answer = {
      status: this.#status,
      statusMessage: this.#statusMessage,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks),
    };
    try {
      await this.#judge(answer);
      exchange.writeHead(answer.status, answer.statusMessage, answer.headers);
      exchange.sentBytes = answer.body.length;
      exchange.response.end(answer.body);
    } catch (error) {
      refuse(exchange, error instanceof Refusal ? error : new Refusal('internal_error', { reason: String(error) }));
    }
  }
}

function tooLong(): Broken {
  return new Broken(new Refusal('login_answer_refused', { reason: 'login_answer_too_long' }));
}
