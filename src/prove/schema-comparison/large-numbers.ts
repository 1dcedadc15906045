import { isMap } from '../../engine/schema/schema-walk.ts';
import { objectOf } from './json-value.ts';

/** An integer that a parser with doubles cannot tell from its neighbours. */
const LARGE = [2 ** 60, -(2 ** 60)];

/** Yields copies of a value in which one number is an integer that `type: integer` refuses as inexact. */
export function* withLargeNumbers(value: unknown): Generator<unknown> {
  if (typeof value === 'number') yield* LARGE;
  if (Array.isArray(value))
    for (const [index, item] of value.entries())
      for (const large of withLargeNumbers(item)) yield value.with(index, large);
  if (!isMap(value)) return;
  const members = Object.entries(value);
  for (const [index, [name, inside]] of members.entries())
    for (const large of withLargeNumbers(inside)) yield objectOf(members.with(index, [name, large]));
}
