/**
 * @import { Answers } from './ask.js'
 * @import { Route } from './routes.js'
 */
import { ask, hasToken, keepToken, Refused } from './ask.js';
import { Decisions } from './decisions.js';
import { byId, say } from './element.js';
import { Explain } from './explain.js';
import { clock } from './numbers.js';
import { Overview, reloadOf } from './overview.js';
import { Routes } from './routes.js';

const ASK_MS = 2_000;
const HISTORY_MS = 10_000;
/** What takes long to answer is asked for less often: at most a tenth of the time is spent on it. */
const REST = 10;
const VIEWS = ['overview', 'routes', 'decisions', 'explain'];
/** @type {Record<Answers['status']['status'], string>} */
const READINESS = { ready: 'good', degraded: 'warn', unready: 'bad', stopping: 'bad' };

const overview = new Overview();
const explain = new Explain();
const decisions = new Decisions((error) => {
  if (isUnknown(error)) askForToken();
});
const routes = new Routes(openFor);
let isSignedOut = false;
let isAsking = false;
let historyAt = Number.NEGATIVE_INFINITY;
let shownHash = '';
/** @type {ReturnType<typeof setTimeout> | undefined} */
let next;

showView();
void refresh();

addEventListener('hashchange', () => {
  showView();
  scrollTo(0, 0);
  byId('main').focus();
});
document.addEventListener('visibilitychange', () => {
  decisions.show();
  if (!document.hidden) void refresh();
});
byId('skip').addEventListener('click', (/** @type {Event} */ event) => {
  event.preventDefault();
  byId('main').focus();
});
byId('sign-in-form').addEventListener('submit', (/** @type {Event} */ event) => {
  event.preventDefault();
  keepToken(byId('token').value);
  byId('token').value = '';
  void refresh();
});
byId('sign-out').addEventListener('click', () => {
  keepToken('');
  location.reload();
});

/** Asks for all that is shown, and again after a while; not while nobody looks. */
async function refresh() {
  if (isAsking) return;
  clearTimeout(next);
  isAsking = true;
  const began = performance.now();
  try {
    await askForAll();
    onAnswer();
  } catch (error) {
    onFault(error);
  }
  isAsking = false;
  const took = performance.now() - began;
  if (!document.hidden && !isSignedOut) next = setTimeout(refresh, Math.max(ASK_MS, REST * took));
}

async function askForAll() {
  const [status, traffic] = await Promise.all([ask('status'), ask('traffic')]);
  showState(status);
  overview.showStatus(status);
  overview.showTraffic(traffic);
  if (status.manifest.hash !== shownHash) {
    const table = (await ask('routes')).routes;
    shownHash = status.manifest.hash;
    explain.offerRoles(new Set(table.flatMap(({ roles }) => roles)));
    routes.showRoutes(table);
  }
  routes.showTraffic(traffic);
  if (performance.now() - historyAt < HISTORY_MS) return;
  overview.showHistory((await ask('history')).moments);
  historyAt = performance.now();
}

/** @param {Answers['status']} status */
function showState(status) {
  const readiness = byId('readiness');
  say(readiness, status.status);
  readiness.className = `badge ${READINESS[status.status]}`;
  readiness.title = status.why.join('; ');
  say(byId('version'), `signing-gateway ${status.version}`);
  const isFaulty = status.last_reload !== null && status.last_reload.kind !== 'accepted';
  byId('reload-fault').hidden = !isFaulty;
  say(byId('reload-fault'), isFaulty ? `The saved manifest is not in force: ${reloadOf(status.last_reload)}` : '');
}

function onAnswer() {
  byId('lost').hidden = true;
  byId('sign-out').hidden = !hasToken();
  document.body.classList.remove('stale');
  if (!isSignedOut) return;
  isSignedOut = false;
  say(byId('sign-in-fault'), '');
  showView();
}

/** @param {unknown} error */
function onFault(error) {
  if (isUnknown(error)) return askForToken();
  const why = error instanceof Refused ? error.message : 'the gateway does not answer';
  byId('lost').hidden = false;
  document.body.classList.add('stale');
  if (!byId('lost').textContent.startsWith(why)) say(byId('lost'), `${why}; what is shown is of ${clock(Date.now())}`);
}

/** @param {unknown} error */
function isUnknown(error) {
  return error instanceof Refused && error.status === 401;
}

function askForToken() {
  if (hasToken()) say(byId('sign-in-fault'), 'This is not the token.');
  keepToken('');
  isSignedOut = true;
  say(byId('readiness'), 'signed out');
  byId('readiness').className = 'badge calm';
  showView();
  byId('token').focus();
}

/** The view that the address names; its link says so. */
function showView() {
  const named = location.hash.slice(2);
  const view = VIEWS.includes(named) ? named : 'overview';
  byId('sign-in').hidden = !isSignedOut;
  for (const name of VIEWS) byId(name).hidden = isSignedOut || name !== view;
  byId('views').hidden = isSignedOut;
  for (const link of byId('views').querySelectorAll('a')) {
    if (link.hash === `#/${view}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${byId(`${view}-title`).textContent} · Signing gateway`;
  routes.show();
  decisions.show();
}

/**
 * @param {'decisions' | 'explain'} view
 * @param {Route} route
 */
function openFor(view, route) {
  if (view === 'decisions') decisions.filter(route.id);
  else explain.fill(route);
  location.hash = `/${view}`;
}
