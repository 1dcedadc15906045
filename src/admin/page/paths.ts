import { byId, element } from './element.ts';
import { decimal, NONE } from './format.ts';
import { drawPathTree, kindOf, sumsOf, type TreeRenderer, type TreeRoute, weightElements } from './path-tree.ts';
import { methodsOf, type RouteRow, routeHash } from './route-columns.ts';

const RENDERER: TreeRenderer<HTMLElement> = {
  draw: (name, { style = '', ...attributes }, ...children) => {
    const drawn = element(name, attributes, ...children);
    // The policy of the page forbids the attribute.
    drawn.style.cssText = style;
    return drawn;
  },
  hrefOf: routeHash,
  format: (rate) => (rate === 0 ? NONE : `${decimal(rate)}/s`),
};

let displayed = '';

/** Shows routes as a tree of their paths. It is redrawn only for other routes, so that folders stay folded. */
export function showPaths(rows: readonly RouteRow[]) {
  const routes = rows.map(({ route }) => treeRouteOf(route));
  const rates = new Map(rows.map(({ route, traffic }) => [route.id, traffic && traffic.requests / traffic.seconds]));
  const weights = sumsOf(routes, (id) => rates.get(id) || 0);
  const text = JSON.stringify(routes);
  if (text !== displayed) byId('paths').replaceChildren(drawPathTree(routes, weights, RENDERER));
  else
    for (const weight of byId('paths').querySelectorAll('.weight'))
      weight.replaceChildren(...weightElements(weights, weight.dataset.key, RENDERER));
  displayed = text;
}

function treeRouteOf({ access, login, upstream, status, ...route }: RouteRow['route']): TreeRoute {
  const { id, path, callers } = route;
  return {
    ...{ id, path, callers, methods: methodsOf(route) },
    kind: kindOf(access, login),
    upstream: upstream ?? `(${status})`,
  };
}
