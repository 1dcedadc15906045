import { definitionOf, type SchemaNode } from '../support/manifest-schema.ts';
import type { Random } from './rewrites.ts';
import { type TypedValue, typedValues } from './typed-values.ts';

/** A manifest with one other value. */
export interface Mutation {
  readonly manifest: object;
  /** The path of the value, with `*` for any name or index. */
  readonly path: string;
}

/** Keys that no request shows. */
const WITHOUT_REQUESTS =
  /^(?:version|include|lint|log|tracing|reload|admin|listen|server\.(?:workers|tls|stopping|timeouts))/;

/** Returns a manifest in which one value was removed, added or replaced by another one of the same kind. */
export function mutate(manifest: object, random: Random): Mutation | undefined {
  const copy = structuredClone(manifest);
  const values = [...typedValues(copy)].filter(({ path }) => !WITHOUT_REQUESTS.test(path));
  const value = values[random(values.length)];
  if (value === undefined) return undefined;
  const [remove, add] = [random(4) === 0, random(4) === 0];
  if (remove) removeValue(value);
  else if (!(add && addKey(value, random))) replaceValue(value, random);
  return { manifest: copy, path: value.path };
}

function removeValue({ holder, key }: TypedValue): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

/** Adds an optional key with an example of its schema. */
function addKey({ holder, key, node }: TypedValue, random: Random): boolean {
  const map = holder[key];
  if (map === null || typeof map !== 'object' || Array.isArray(map)) return false;
  const missing = Object.entries(propertiesOf(node)).filter(([name]) => !Object.hasOwn(map, name));
  const [name, property] = missing[random(missing.length)] ?? [];
  const samples = property === undefined ? [] : samplesOf(property);
  if (name === undefined || samples.length === 0) return false;
  Object.assign(map, { [name]: structuredClone(samples[random(samples.length)]) });
  return true;
}

function replaceValue({ holder, key, node }: TypedValue, random: Random): void {
  const values = [...samplesOf(node), ...similarValues(holder[key], node)];
  if (values.length > 0) holder[key] = structuredClone(values[random(values.length)]);
}

function propertiesOf(node: SchemaNode): Readonly<Record<string, SchemaNode>> {
  const target = definitionOf(node);
  return Object.assign({}, target && propertiesOf(target), ...(node.anyOf ?? []).map(propertiesOf), node.properties);
}

export function samplesOf(node: SchemaNode): readonly unknown[] {
  const { examples = [], enum: words = [], anyOf = [] } = node;
  const target = definitionOf(node);
  return [...examples, ...words, ...anyOf.flatMap(samplesOf), ...(target === undefined ? [] : samplesOf(target))];
}

/** Returns values that are similar to this one. */
export function similarValues(value: unknown, { items = {} }: SchemaNode = {}): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value - 1, value + 1];
  if (typeof value === 'string') return [value.replace(/\d+/, (digits) => String(Number(digits) + 1)), `${value}x`];
  if (!Array.isArray(value)) return [];
  const others = [...samplesOf(items), ...similarValues(value[0])].filter((other) => !value.includes(other));
  return [value.slice(1), ...others.map((other) => [...value, other])];
}
