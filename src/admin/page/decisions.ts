import { type StreamEvent, streamEvents } from './api.ts';
import { type DecisionEvent, decisionRows } from './decision-rows.ts';
import { byId, setText } from './element.ts';
import { integer } from './format.ts';

const MAX_ROWS = 200;
/** The time after the last key before a new filter applies. */
const FILTER_DELAY_MS = 300;
const RETRY_MS = 2_000;

/** The live list of decisions. The gateway filters them, and sends them only while this view is visible. */
export class Decisions {
  #subscription: AbortController | undefined;
  /** Received while paused, the latest last. */
  #pending: DecisionEvent[] = [];
  #pendingCount = 0;
  #skipped = 0;
  #isPaused = false;
  #path = '';
  #filterTimer: ReturnType<typeof setTimeout> | undefined;
  #onError;

  /** Calls `onError` when the stream fails. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
    byId('decisions-tools').addEventListener('submit', (event: Event) => event.preventDefault());
    byId('decisions-filter').addEventListener('input', () => {
      clearTimeout(this.#filterTimer);
      this.#filterTimer = setTimeout(() => this.update(), FILTER_DELAY_MS);
    });
    byId('decisions-show').addEventListener('change', () => this.update());
    byId('decisions-pause').addEventListener('click', () => this.#pause(!this.#isPaused));
    byId('decisions-clear').addEventListener('click', () => this.#clear());
  }

  /** Subscribes while the view and the tab are visible; unsubscribes otherwise. */
  update() {
    const query = new URLSearchParams();
    const filter = byId('decisions-filter').value.trim();
    if (filter !== '') query.set('filter', filter);
    const show = byId('decisions-show').value;
    if (show !== '') query.set('only', show);
    const path = `decisions?${query}`;
    const isVisible = !byId('decisions').hidden && !document.hidden;
    if (isVisible && this.#subscription !== undefined && path === this.#path) return;
    this.#subscription?.abort();
    this.#subscription = undefined;
    if (!isVisible) return;
    if (path !== this.#path) this.#clear();
    this.#path = path;
    this.#subscription = new AbortController();
    void this.#subscribe(path, this.#subscription.signal);
  }

  async #subscribe(path: string, signal: AbortSignal) {
    while (!signal.aborted) {
      try {
        this.#showStatus();
        for await (const event of streamEvents(path, signal)) this.#receive(event);
      } catch (error) {
        if (signal.aborted) return;
        setText(byId('decisions-status'), `disconnected: ${error instanceof Error ? error.message : error}`);
        this.#onError(error);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #receive({ name, data }: StreamEvent) {
    if (name === 'skipped') this.#skipped += data.count;
    else if (this.#isPaused) this.#queue(data);
    else this.#add(data);
    this.#showStatus();
  }

  #queue(decision: DecisionEvent) {
    this.#pendingCount += 1;
    this.#pending.push(decision);
    if (this.#pending.length > MAX_ROWS) this.#pending.shift();
  }

  #add(decision: DecisionEvent) {
    const body = byId('decisions-table').tBodies[0];
    body.prepend(...decisionRows(decision));
    // Each decision has two rows.
    while (body.rows.length > 2 * MAX_ROWS) body.lastChild.remove();
    byId('decisions-empty').hidden = true;
  }

  #pause(isPaused: boolean) {
    this.#isPaused = isPaused;
    byId('decisions-pause').setAttribute('aria-pressed', String(isPaused));
    for (const decision of this.#pending.splice(0)) this.#add(decision);
    this.#pendingCount = 0;
    this.#showStatus();
  }

  #clear() {
    byId('decisions-table').tBodies[0].replaceChildren();
    byId('decisions-empty').hidden = false;
    this.#pending = [];
    this.#pendingCount = 0;
    this.#skipped = 0;
    this.#showStatus();
  }

  #showStatus() {
    const state = this.#isPaused ? `paused, ${integer(this.#pendingCount)} waiting` : 'live';
    const skipped = this.#skipped === 0 ? '' : `; ${integer(this.#skipped)} skipped`;
    setText(byId('decisions-status'), state + skipped);
  }
}
