import type { Resolver } from 'node:dns';
import { NameError } from './name-error.ts';
import type { Placed, Places } from './places.ts';
import { type Found, Question, type QuestionUser } from './question.ts';

export interface LookUpUser {
  readonly isAwaited: boolean;
  readonly isFailing: boolean;
  /** The full names that may be meant, in order. */
  fullNames(): readonly string[];
  /** Addresses of one family are there; the other one follows. */
  onEarly(found: Found): void;
  onFound(found: Found, ms: number): void;
  onFailed(error: NameError, ms: number): void;
  /** It ended without a result. */
  onCancelled(): void;
}

/** Longest time on the network, whatever the name servers do. */
const LIMIT_MS = 5_000;
/**
 * The same once the last waiter has left. The time lets a name resolve that takes longer than each waiter does, and tells a name
 * server that hangs from clients that leave early.
 */
const ABANDONED_MS = 1_000;

/** One look-up of a name, from its wait for a place to its result. */
export class LookUp implements Placed, QuestionUser {
  readonly #places: Places;
  readonly #user: LookUpUser;
  #question: Question | undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #early: Found | undefined;
  #isOver = false;

  constructor(places: Places, user: LookUpUser) {
    this.#places = places;
    this.#user = user;
    places.enter(this);
  }

  get isAwaited(): boolean {
    return this.#user.isAwaited;
  }

  get isFailing(): boolean {
    return this.#user.isFailing;
  }

  /** The first waiter came, after it had begun without one. */
  onAwaited(): void {
    if (this.#question === undefined) this.#places.makeRoom(this);
    else this.#limit(Math.max(this.#startedAt + LIMIT_MS - performance.now(), 0));
  }

  /** The last waiter left. */
  onAbandoned(): void {
    if (this.#question === undefined) this.cancel();
    else this.#limit(ABANDONED_MS);
  }

  cancel(): void {
    if (!this.#end()) return;
    this.#user.onCancelled();
  }

  onPlace(channel: Resolver): void {
    this.#startedAt = performance.now();
    this.#limit(LIMIT_MS);
    this.#question = new Question(channel, this.#user.fullNames(), this);
  }

  onYield(): void {
    this.cancel();
  }

  onEarly(found: Found): void {
    this.#early = found;
    this.#user.onEarly(found);
  }

  onFound(found: Found): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#user.onFound(found, ms);
  }

  onFailed(error: NameError): void {
    const ms = performance.now() - this.#startedAt;
    if (this.#end()) this.#user.onFailed(error, ms);
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onLate(), ms).unref();
  }

  #onLate(): void {
    if (this.#early === undefined) this.onFailed(new NameError('ETIMEOUT'));
    else this.onFound(this.#early);
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#question?.stop();
    this.#places.leave(this);
    return true;
  }
}
