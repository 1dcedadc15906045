/** The picture of a manifest. The admin page draws it as elements and `routes --access` as text, so this file knows neither. */

/** The kinds of access with the classes of their colours. */
export const KIND_CLASSES = { public: 'warn', login: 'login', protected: 'good' } as const;

type Kind = keyof typeof KIND_CLASSES;
const KINDS = Object.keys(KIND_CLASSES) as Kind[];
const NOTHING = { public: 0, login: 0, protected: 0 };

export interface TreeRoute {
  readonly id: string;
  readonly methods: string;
  readonly path: string;
  readonly kind: Kind;
  readonly callers: string;
  readonly upstream: string;
}

export interface TreeRenderer<Element> {
  /** Creates an element. A string is text, never markup. */
  readonly draw: (name: string, attributes: Record<string, string>, ...children: (Element | string)[]) => Element;
  readonly hrefOf: (id: string) => string;
  readonly format: (weight: number) => string;
}

/** By the id of a route or by a folder such as `/api/`: the sums of its routes. `/` has those of all. */
type Sums = ReadonlyMap<string, Readonly<Record<Kind, number>>>;

interface PathNode {
  readonly path: string;
  readonly routes: TreeRoute[];
  readonly children: Map<string, PathNode>;
}

/** A larger tree is folded below its first level. */
const MAX_OPEN = 200;

export function kindOf(access: 'public' | 'protected', isLogin: boolean): Kind {
  return isLogin && access === 'public' ? 'login' : access;
}

/** Returns the list of all paths, folded by their segments, with bars of these weights. Paths that continue in one way only are one line. */
export function drawPathTree<Element>(routes: readonly TreeRoute[], weights: Sums, renderer: TreeRenderer<Element>) {
  const { draw, hrefOf } = renderer;
  const counts = sumsOf(routes, () => 1);
  return draw('ul', { class: 'tree' }, ...itemsBelow(treeOf(routes), 0, true));

  function itemsBelow({ children }: PathNode, start: number, isTop = false): Element[] {
    return [...children.values()].flatMap((child) => itemsOf(child, start, isTop));
  }

  /** Returns the items of a path, without its first characters, and of all paths below it. */
  function itemsOf(node: PathNode, start: number, isTop: boolean): Element[] {
    const label = node.path.slice(start);
    const lines = node.routes.map((route) => draw('li', { class: KIND_CLASSES[route.kind] }, lineOf(label, route)));
    if (node.children.size < 2) return [...lines, ...itemsBelow(node, start, isTop)];
    const sums = counts.get(`${node.path}/`) ?? NOTHING;
    const kinds = KINDS.filter((kind) => sums[kind] > 0);
    const text = kinds.map((kind) => `${sums[kind]} ${kind}`).join(', ');
    const summary = lineElement('summary', `${node.path}/`, `${label}/…`, draw('span', { class: 'counts' }, text));
    const open = isTop || routes.length <= MAX_OPEN ? { open: '' } : {};
    const details = draw('details', open, summary, draw('ul', {}, ...itemsBelow(node, node.path.length)));
    const [kind] = kinds;
    return [...lines, draw('li', { class: kind && kinds.length === 1 ? KIND_CLASSES[kind] : 'calm' }, details)];
  }

  function lineOf(label: string, { id, kind, methods, callers, upstream }: TreeRoute): Element {
    const cells = [
      draw('span', {}, methods),
      draw('span', { class: KIND_CLASSES[kind] }, callers),
      draw('span', {}, upstream),
      draw('a', { href: hrefOf(id) }, id),
    ];
    return lineElement('div', id, label, ...cells);
  }

  function lineElement(name: string, key: string, label: string, ...cells: Element[]): Element {
    const weight = draw('span', { class: 'weight', 'data-key': key }, ...weightElements(weights, key, renderer));
    return draw(name, { class: 'path' }, ...[draw('code', {}, label), ...cells, weight].flatMap((part) => [part, ' ']));
  }
}

/** Returns the weight of a route or a folder as text, and as a bar with a part for each kind of access. */
export function weightElements<Element>(
  weights: Sums,
  key: string,
  { draw, format }: Omit<TreeRenderer<Element>, 'hrefOf'>,
): Element[] {
  const sums = weights.get(key) ?? NOTHING;
  const all = sumOf(weights.get('/') ?? NOTHING);
  const parts = KINDS.filter((kind) => sums[kind] > 0).map((kind) =>
    draw('span', { class: KIND_CLASSES[kind], style: `width: ${((100 * sums[kind]) / all).toFixed(2)}%` }),
  );
  return [draw('span', {}, format(sumOf(sums))), draw('span', { class: 'meter', 'aria-hidden': 'true' }, ...parts)];
}

export function sumsOf(routes: readonly TreeRoute[], weightOf: (id: string) => number): Sums {
  const sums: Map<string, Record<Kind, number>> = new Map();
  for (const { id, path, kind } of routes)
    for (const key of [id, ...path.matchAll(/\//g).map(({ index }) => path.slice(0, index + 1))]) {
      const sum = sums.get(key) ?? { ...NOTHING };
      sum[kind] += weightOf(id);
      sums.set(key, sum);
    }
  return sums;
}

function sumOf(sums: Readonly<Record<Kind, number>>): number {
  return KINDS.reduce((sum, kind) => sum + sums[kind], 0);
}

function treeOf(routes: readonly TreeRoute[]): PathNode {
  const root: PathNode = { path: '', routes: [], children: new Map() };
  for (const route of routes) {
    let node = root;
    for (const segment of route.path.split('/').slice(1)) {
      const child = node.children.get(segment) ?? { path: `${node.path}/${segment}`, routes: [], children: new Map() };
      node.children.set(segment, child);
      node = child;
    }
    node.routes.push(route);
  }
  return root;
}
