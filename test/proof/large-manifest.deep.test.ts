import { expect, it } from 'vitest';
import { manifestOf, prove, resultsOf } from './support.ts';

const COUNT = 10_000;

const pathOf = (index: number) =>
  index % 7 === 0 ? `/s${index % 100}/n${index}/**` : `/s${index % 100}/n${index}/{id}`;
const routeOf = (index: number) => ({
  id: `r-${index}`,
  method: index % 3 === 0 ? 'POST' : 'GET',
  path: pathOf(index),
  access: index % 11 === 0 ? 'public' : 'protected',
});
const OLD = Array.from({ length: COUNT }, (_, index) => routeOf(index));

it('a proof about ten thousand routes finds each of fifty changes', async () => {
  const next = OLD.map((route, index) => {
    if (index % 200 !== 1) return route;
    return index % 400 === 1 ? { ...route, access: 'public' } : { ...route, method: ['GET', 'PUT', 'POST'] };
  });
  const changedRoutes = next.filter((route, index) => route !== OLD[index]);
  expect(changedRoutes).toHaveLength(50);
  const [old, changed] = [manifestOf(OLD), manifestOf(next)];
  const { shown, undecided } = resultsOf(await prove(old, changed));
  expect(undecided).toEqual([]);
  const opened = shown.map(({ message }) => /"(r-\d+)"/.exec(message)?.[1] ?? '');
  const expected = changedRoutes.filter(({ id, method }) => {
    const before = OLD.find((route) => route.id === id);
    return before?.access === 'protected' || before?.method !== method;
  });
  expect([...new Set(opened)].sort()).toEqual(expected.map(({ id }) => id).sort());
  const moved = manifestOf(
    OLD.map((route, index) => (index % 200 === 1 ? { ...route, id: `${route.id}-new` } : route)).toReversed(),
  );
  expect((await prove(old, moved, 'equivalent')).differences).toEqual([]);
});
