/** @import { ToldEvent } from './ask.js' */
import { events } from './ask.js';
import { badge, byId, element, say } from './element.js';
import { clock, duration, NONE, whole } from './numbers.js';

/** @typedef {Extract<ToldEvent, { name: 'decision' }>['data']} Decision */

const MOST_ROWS = 200;
const SETTLE_MS = 300;
const RETRY_MS = 2_000;

/** What becomes of requests, as it happens. The gateway picks what the filter asks for, and sends only while this is seen. */
export class Decisions {
  /** @type {AbortController | undefined} */
  #watching;
  /** @type {Decision[]} that came while it was paused, the latest one last */
  #held = [];
  #heldBack = 0;
  #skipped = 0;
  #isPaused = false;
  #asked = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settling;
  #onFault;

  /** @param {(error: unknown) => void} onFault hears why it broke off */
  constructor(onFault) {
    this.#onFault = onFault;
    byId('decisions-tools').addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
    byId('decisions-filter').addEventListener('input', () => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => this.show(), SETTLE_MS);
    });
    byId('decisions-refused').addEventListener('change', () => this.show());
    byId('decisions-pause').addEventListener('click', () => this.#pause(!this.#isPaused));
    byId('decisions-clear').addEventListener('click', () => this.#clear());
  }

  /** @param {string} text */
  filter(text) {
    byId('decisions-filter').value = text;
  }

  /** Looks on while the view is seen and the tab is; otherwise it stops. */
  show() {
    const query = new URLSearchParams();
    const filter = byId('decisions-filter').value.trim();
    if (filter !== '') query.set('filter', filter);
    if (byId('decisions-refused').checked) query.set('only', 'refused');
    const asked = `decisions?${query}`;
    const isSeen = !byId('decisions').hidden && !document.hidden;
    if (isSeen && this.#watching !== undefined && asked === this.#asked) return;
    this.#watching?.abort();
    this.#watching = undefined;
    if (!isSeen) return;
    if (asked !== this.#asked) this.#clear();
    this.#asked = asked;
    this.#watching = new AbortController();
    void this.#watch(asked, this.#watching.signal);
  }

  /**
   * @param {string} path
   * @param {AbortSignal} signal
   */
  async #watch(path, signal) {
    while (!signal.aborted) {
      try {
        this.#tell();
        for await (const event of events(path, signal)) this.#hear(event);
      } catch (error) {
        if (signal.aborted) return;
        say(byId('decisions-told'), `broken off: ${error instanceof Error ? error.message : error}`);
        this.#onFault(error);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** @param {ToldEvent} event */
  #hear({ name, data }) {
    if (name === 'skipped') this.#skipped += data.count;
    else if (this.#isPaused) this.#hold(data);
    else this.#add(data);
    this.#tell();
  }

  /** @param {Decision} decision */
  #hold(decision) {
    this.#heldBack += 1;
    this.#held.push(decision);
    if (this.#held.length > MOST_ROWS) this.#held.shift();
  }

  /** @param {Decision} decision */
  #add(decision) {
    const body = byId('decisions-table').tBodies[0];
    body.prepend(lineOf(decision));
    while (body.rows.length > MOST_ROWS) body.lastChild.remove();
    byId('decisions-empty').hidden = true;
  }

  /** @param {boolean} isPaused */
  #pause(isPaused) {
    this.#isPaused = isPaused;
    byId('decisions-pause').setAttribute('aria-pressed', String(isPaused));
    for (const decision of this.#held.splice(0)) this.#add(decision);
    this.#heldBack = 0;
    this.#tell();
  }

  #clear() {
    byId('decisions-table').tBodies[0].replaceChildren();
    byId('decisions-empty').hidden = false;
    this.#held = [];
    this.#heldBack = 0;
    this.#skipped = 0;
    this.#tell();
  }

  #tell() {
    const state = this.#isPaused ? `paused, ${whole(this.#heldBack)} more since` : 'live';
    const skipped = this.#skipped === 0 ? '' : `; ${whole(this.#skipped)} too many to be shown`;
    say(byId('decisions-told'), state + skipped);
  }
}

/** @param {Decision} decision */
function lineOf({ at, id, method, path, route, status, refusal, reason, subject, ms }) {
  const why = reason === null || reason === refusal ? '' : ` ${reason}`;
  const refused = [element('code', {}, refusal ?? ''), element('span', { class: 'hint' }, why)];
  return element(
    'tr',
    { class: refusal === null ? undefined : 'refused' },
    element('td', {}, element('time', { datetime: new Date(at).toISOString() }, clock(at))),
    element('td', {}, method ?? NONE),
    element('td', { class: 'long' }, coded(path)),
    element('td', {}, route ?? NONE),
    element('td', { class: 'number' }, status === null ? badge('left', 'calm') : badge(String(status), kindOf(status))),
    element('td', { class: 'number' }, duration(ms)),
    element('td', { class: 'long' }, ...(refusal === null ? [NONE] : refused)),
    element('td', {}, coded(subject)),
    element('td', {}, element('code', { title: id }, id.slice(0, 8))),
  );
}

/** @param {string | null} text */
function coded(text) {
  return text === null ? NONE : element('code', {}, text);
}

/** @param {number} status */
function kindOf(status) {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}
