import type { YamlValue } from '../manifest/yaml-values.ts';
import type { Path } from '../problem/finding.ts';

export interface StringValue {
  readonly text: string;
  readonly path: Path;
}

/**
 * Returns the strings of a manifest that match, as written, before substitution.
 *
 * @param matches its path is valid only during the call: a manifest may have hundreds of thousands of strings
 */
export function stringValues(value: YamlValue, matches: (text: string, path: Path) => boolean): StringValue[] {
  const found: StringValue[] = [];
  const path: (string | number)[] = [];
  const visit = (node: unknown) => {
    if (typeof node === 'string') {
      if (matches(node, path)) found.push({ text: node, path: [...path] });
    } else if (Array.isArray(node))
      for (let index = 0; index < node.length; index += 1) visitMember(index, node[index]);
    else if (node !== null && typeof node === 'object')
      for (const key of Object.keys(node)) visitMember(key, (node as Record<string, unknown>)[key]);
  };
  const visitMember = (step: string | number, member: unknown) => {
    path.push(step);
    visit(member);
    path.pop();
  };
  visit(value);
  return found;
}
