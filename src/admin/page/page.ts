import { ApiError, fetchJson, hasToken, type Responses, storeToken } from './api.ts';
import { CandidateView } from './candidate.ts';
import { Decisions } from './decisions.ts';
import { byId, setText } from './element.ts';
import { Explain } from './explain.ts';
import { timeOfDay } from './format.ts';
import { ManifestView } from './manifest.ts';
import { describeReload, Overview } from './overview.ts';
import { RouteView } from './route.ts';
import { Routes } from './routes.ts';

const REFRESH_MS = 2_000;
const HISTORY_MS = 10_000;
/** The pause after a refresh, as a multiple of its duration. A slow gateway gets fewer requests. */
const PAUSE_FACTOR = 10;
/** The ids of the views. The name of a view in the URL fragment is its id, except for those below. */
const VIEWS = ['overview', 'routes', 'route', 'decisions', 'surrogates', 'explain', 'manifest-view', 'candidate'];
const READINESS: Record<Responses['status']['status'], string> = {
  ready: 'good',
  degraded: 'warn',
  unready: 'bad',
  stopping: 'bad',
};

const overview = new Overview();
const explain = new Explain();
const decisions = new Decisions((error) => {
  if (isUnauthenticated(error)) showSignIn();
});
const routes = new Routes();
const routeView = new RouteView();
const manifestView = new ManifestView();
const candidateView = new CandidateView();
let isSignedOut = false;
let isRefreshing = false;
let historyAt = Number.NEGATIVE_INFINITY;
let displayedHash = '';
let refreshTimer: ReturnType<typeof setTimeout> | undefined;

showView();
void refresh();

addEventListener('hashchange', () => {
  showView();
  focusMain();
});
document.addEventListener('visibilitychange', () => {
  decisions.update();
  if (!document.hidden) void refresh();
});
byId('skip').addEventListener('click', (event: Event) => {
  event.preventDefault();
  focusMain();
});
// A table that is wider than its card says so.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const card = target.closest('.scroll');
    card?.classList.toggle('wide', card.scrollWidth > card.clientWidth);
  }
});
for (const table of document.querySelectorAll('.scroll, .scroll table')) widths.observe(table);
// The header has the height of its notices. Tables stay below it, and a focused element scrolls to below it.
new ResizeObserver(() => {
  document.documentElement.style.setProperty('--top', `${byId('top').offsetHeight}px`);
}).observe(byId('top'));
byId('sign-in-form').addEventListener('submit', (event: Event) => {
  event.preventDefault();
  storeToken(byId('token').value);
  byId('token').value = '';
  void refresh();
});
byId('sign-out').addEventListener('click', () => {
  storeToken('');
  location.reload();
});

/** Fetches all displayed data, repeatedly while the tab is visible. */
async function refresh() {
  if (isRefreshing) return;
  clearTimeout(refreshTimer);
  isRefreshing = true;
  const startMs = performance.now();
  try {
    await fetchAll();
    onSuccess();
  } catch (error) {
    onError(error);
  }
  isRefreshing = false;
  const durationMs = performance.now() - startMs;
  if (!document.hidden && !isSignedOut)
    refreshTimer = setTimeout(refresh, Math.max(REFRESH_MS, PAUSE_FACTOR * durationMs));
}

async function fetchAll() {
  const [status, traffic] = await Promise.all([fetchJson('status'), fetchJson('traffic')]);
  showState(status);
  overview.showStatus(status);
  overview.showTraffic(traffic);
  if (status.manifest.hash !== displayedHash) {
    const table = (await fetchJson('routes')).routes;
    displayedHash = status.manifest.hash;
    explain.offerRoles(new Set(table.flatMap(({ roles }) => roles)));
    routes.showRoutes(table);
  }
  routes.showTraffic(traffic);
  await routeView.refresh();
  await manifestView.refresh(status);
  await candidateView.refresh(status);
  if (performance.now() - historyAt < HISTORY_MS) return;
  overview.showHistory(await fetchJson('history'));
  historyAt = performance.now();
}

function showState(status: Responses['status']) {
  const readiness = byId('readiness');
  setText(readiness, status.status);
  readiness.className = `badge ${READINESS[status.status]}`;
  readiness.title = status.reasons.join('; ');
  setText(byId('version'), `signing-gateway ${status.version}`);
  const hasFailed = status.last_reload !== null && status.last_reload.result !== 'accepted';
  byId('reload-error').hidden = !hasFailed;
  setText(
    byId('reload-error-text'),
    hasFailed ? `The saved manifest is not active: ${describeReload(status.last_reload)}.` : '',
  );
}

function onSuccess() {
  byId('connection-error').hidden = true;
  byId('sign-out').hidden = !hasToken();
  document.body.classList.remove('stale');
  if (!isSignedOut) return;
  isSignedOut = false;
  setText(byId('sign-in-error'), '');
  showView();
}

function onError(error: unknown) {
  if (isUnauthenticated(error)) return showSignIn();
  const reason = error instanceof ApiError ? error.message : 'the gateway does not respond';
  byId('connection-error').hidden = false;
  document.body.classList.add('stale');
  if (!byId('connection-error').textContent.startsWith(reason))
    setText(byId('connection-error'), `${reason}; the data on this page is from ${timeOfDay(Date.now())}`);
}

function isUnauthenticated(error: unknown) {
  return error instanceof ApiError && error.status === 401;
}

function showSignIn() {
  if (hasToken()) setText(byId('sign-in-error'), 'This token is not valid.');
  storeToken('');
  isSignedOut = true;
  setText(byId('readiness'), 'signed out');
  byId('readiness').className = 'badge calm';
  showView();
  byId('token').focus();
}

/** Shows the view that the URL fragment names: `#/routes`, `#/routes/ID`, or `#/explain?method=GET&url=/path`. */
function showView() {
  const [path = '', query = ''] = location.hash.slice(2).split(/\?(.*)/s);
  const [name = '', id] = path.split(/\/(.*)/s);
  const view = viewOf(name, id);
  if (view === 'route') routeView.open(decoded(id ?? ''));
  byId('sign-in').hidden = !isSignedOut;
  for (const other of VIEWS) byId(other).hidden = isSignedOut || other !== view;
  byId('views').hidden = isSignedOut;
  for (const link of byId('views').querySelectorAll('a')) {
    const [linked = ''] = link.hash.slice(2).split('/');
    if (viewOf(linked) === (view === 'route' ? 'routes' : view)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${byId(`${view}-title`).textContent} · Signing gateway`;
  if (isSignedOut) return decisions.update();
  if (query !== '') fillFrom(view, new URLSearchParams(query));
  routes.show();
  decisions.update();
  if (['route', 'manifest-view', 'candidate'].includes(view)) void refresh();
}

/** Returns the id of a view by the parts of the URL fragment. */
function viewOf(name: string, routeId?: string) {
  if (name === 'routes' && routeId) return 'route';
  if (name === 'manifest') return 'manifest-view';
  return VIEWS.includes(name) ? name : 'overview';
}

function fillFrom(view: string, query: URLSearchParams) {
  if (view === 'decisions') byId('decisions-filter').value = query.get('filter') ?? '';
  if (view === 'explain') explain.fill(query);
  if (view === 'routes') byId('routes-layout').value = query.get('layout') ?? 'table';
}

/** Decodes a part of the URL fragment, which anyone may have written. */
function decoded(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Moves the focus to the content. Without `preventScroll`, the browser would scroll its title below the header. */
function focusMain() {
  byId('main').focus({ preventScroll: true });
  scrollTo(0, 0);
}
