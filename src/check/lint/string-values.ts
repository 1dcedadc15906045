import type { Path } from '../../engine/problem/finding.ts';

interface StringValue {
  readonly text: string;
  readonly path: Path;
}

/**
 * Returns the strings of a manifest that match, as written, before substitution.
 *
 * @param matches its path is valid only during the call: a manifest may have hundreds of thousands of strings
 * @param isPart false for the path of a list or a map whose strings are not needed; valid only during the call too
 */
export function stringValues(
  value: unknown,
  matches: (text: string, path: Path) => boolean,
  isPart: (path: Path) => boolean = () => true,
): StringValue[] {
  const found: StringValue[] = [];
  const path: (string | number)[] = [];
  const visit = (node: unknown) => {
    if (typeof node === 'string') {
      if (matches(node, path)) found.push({ text: node, path: [...path] });
    } else if (node === null || typeof node !== 'object' || !isPart(path)) return;
    else if (Array.isArray(node)) for (let index = 0; index < node.length; index += 1) visitMember(index, node[index]);
    else for (const key of Object.keys(node)) visitMember(key, (node as Record<string, unknown>)[key]);
  };
  const visitMember = (step: string | number, member: unknown) => {
    path.push(step);
    visit(member);
    path.pop();
  };
  visit(value);
  return found;
}
