/**
 * A second, naive evaluator of JSON Schema 2020-12 for random tests. It follows the text of the specification keyword by
 * keyword, shares no code with the gateway, and takes no care of speed or hostile input.
 */
type Schema = boolean | Readonly<Record<string, unknown>>;

/** The members and items that a schema has evaluated (core, sections 11.2 and 11.3). */
interface Evaluated {
  readonly isValid: boolean;
  readonly members: ReadonlySet<string>;
  readonly items: ReadonlySet<number>;
}

export function isValidBy(schema: unknown, value: unknown, shared: Readonly<Record<string, unknown>>): boolean {
  return evaluate(schema as Schema, value, shared).isValid;
}

function evaluate(schema: Schema, value: unknown, shared: Readonly<Record<string, unknown>>): Evaluated {
  if (typeof schema === 'boolean') return { isValid: schema, members: new Set(), items: new Set() };
  const members = new Set<string>();
  const items = new Set<number>();
  let isValid = true;
  const require = (condition: boolean) => {
    isValid &&= condition;
  };
  const merge = (inner: Evaluated) => {
    if (!inner.isValid) return;
    for (const name of inner.members) members.add(name);
    for (const index of inner.items) items.add(index);
  };
  const inPlace = (inner: unknown) => evaluate(inner as Schema, value, shared);
  const isInner = (inner: unknown, part: unknown) => evaluate(inner as Schema, part, shared).isValid;
  const has = (keyword: string) => Object.hasOwn(schema, keyword);
  const map = (keyword: string) => Object.entries((schema[keyword] ?? {}) as Record<string, unknown>);
  const list = (keyword: string) => (schema[keyword] ?? []) as unknown[];
  const number = (keyword: string) => schema[keyword] as number;

  if (has('$ref')) {
    const steps = String(schema['$ref']).split('/').slice(2).map(decodeURIComponent);
    const inner = inPlace(steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], shared));
    require(inner.isValid);
    merge(inner);
  }
  if (has('type')) require([schema['type']].flat().some((type) => hasType(value, String(type))));
  if (has('const')) require(canonical(value) === canonical(schema['const']));
  if (has('enum')) require(list('enum').some((allowed) => canonical(value) === canonical(allowed)));
  if (typeof value === 'number') {
    if (has('minimum')) require(value >= number('minimum'));
    if (has('maximum')) require(value <= number('maximum'));
    if (has('exclusiveMinimum')) require(value > number('exclusiveMinimum'));
    if (has('exclusiveMaximum')) require(value < number('exclusiveMaximum'));
    if (has('multipleOf')) require(Number.isInteger(value / number('multipleOf')));
  }
  if (typeof value === 'string') {
    if (has('minLength')) require([...value].length >= number('minLength'));
    if (has('maxLength')) require([...value].length <= number('maxLength'));
    if (has('pattern')) require(new RegExp(String(schema['pattern']), 'u').test(value));
  }
  for (const branch of list('allOf')) {
    const inner = inPlace(branch);
    require(inner.isValid);
    merge(inner);
  }
  if (has('anyOf')) {
    const inners = list('anyOf').map(inPlace);
    require(inners.some((inner) => inner.isValid));
    inners.forEach(merge);
  }
  if (has('oneOf')) {
    const inners = list('oneOf').map(inPlace);
    require(inners.filter((inner) => inner.isValid).length === 1);
    inners.forEach(merge);
  }
  if (has('not')) require(!inPlace(schema['not']).isValid);
  if (has('if')) {
    const condition = inPlace(schema['if']);
    merge(condition);
    const branch = condition.isValid ? 'then' : 'else';
    if (has(branch)) {
      const inner = inPlace(schema[branch]);
      require(inner.isValid);
      merge(inner);
    }
  }
  if (Array.isArray(value)) {
    const prefix = list('prefixItems');
    for (const [index, item] of value.entries()) {
      if (index < prefix.length) {
        require(isInner(prefix[index], item));
        items.add(index);
      } else if (has('items')) {
        require(isInner(schema['items'], item));
        items.add(index);
      }
    }
    if (has('contains')) {
      const matching = [...value.keys()].filter((index) => isInner(schema['contains'], value[index]));
      for (const index of matching) items.add(index);
      require(matching.length >= Number(schema['minContains'] ?? 1));
      require(matching.length <= Number(schema['maxContains'] ?? Number.POSITIVE_INFINITY));
    }
    if (has('minItems')) require(value.length >= number('minItems'));
    if (has('maxItems')) require(value.length <= number('maxItems'));
    if (schema['uniqueItems'] === true) require(new Set(value.map(canonical)).size === value.length);
    if (has('unevaluatedItems'))
      for (const [index, item] of value.entries())
        if (!items.has(index)) {
          require(isInner(schema['unevaluatedItems'], item));
          items.add(index);
        }
  }
  if (hasType(value, 'object')) {
    const object = value as Record<string, unknown>;
    const names = Object.keys(object);
    const local = new Set<string>();
    for (const [name, inner] of map('properties'))
      if (names.includes(name)) {
        require(isInner(inner, object[name]));
        local.add(name);
      }
    for (const [pattern, inner] of map('patternProperties'))
      for (const name of names)
        if (new RegExp(pattern, 'u').test(name)) {
          require(isInner(inner, object[name]));
          local.add(name);
        }
    if (has('additionalProperties'))
      for (const name of names)
        if (!local.has(name)) {
          require(isInner(schema['additionalProperties'], object[name]));
          local.add(name);
        }
    for (const name of local) members.add(name);
    if (has('propertyNames')) for (const name of names) require(isInner(schema['propertyNames'], name));
    for (const name of list('required')) require(names.includes(String(name)));
    if (has('minProperties')) require(names.length >= number('minProperties'));
    if (has('maxProperties')) require(names.length <= number('maxProperties'));
    for (const [name, needed] of map('dependentRequired'))
      if (names.includes(name)) for (const other of needed as string[]) require(names.includes(other));
    for (const [name, inner] of map('dependentSchemas'))
      if (names.includes(name)) {
        const result = inPlace(inner);
        require(result.isValid);
        merge(result);
      }
    if (has('unevaluatedProperties'))
      for (const name of names)
        if (!members.has(name)) {
          require(isInner(schema['unevaluatedProperties'], object[name]));
          members.add(name);
        }
  }
  return { isValid, members, items };
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`);
  return `{${members.sort().join()}}`;
}
