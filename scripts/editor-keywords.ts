/**
 * The keywords of the schemas that are only for editors. They are a part of the schema files, since editors read these files,
 * and no part of the validation.
 */

/** A value with a variable, as the end of a pattern: editors see the text before the substitution. */
const OR_VARIABLE = '|\\$\\{[A-Za-z_]\\w*(:-[^{}]*)?\\}';
const VARIABLE_REF = '#/$defs/Variable';
const KEYWORDS = ['markdownDescription', 'patternErrorMessage', 'defaultSnippets'] as const;

/**
 * Converts a schema for editors to the one that values must match after the substitution of variables. Without this, the text
 * `$${NAME}`, which stands for `${NAME}`, would pass as a duration.
 */
export function toValidationSchema<Node>(node: Node): Node {
  return convert(node, false) as Node;
}

/** @param isMembers true if the keys of the node are names that the schema defines, not keywords */
function convert(node: unknown, isMembers: boolean): unknown {
  if (Array.isArray(node)) return node.map((item) => convert(item, false));
  if (node === null || typeof node !== 'object') return node;
  if (isMembers) return mapValues(node, (value) => convert(value, false));
  const { anyOf, pattern, ...rest } = node as { anyOf?: object[]; pattern?: string };
  const branches = anyOf?.filter((branch) => !('$ref' in branch) || branch.$ref !== VARIABLE_REF);
  const [only] = branches ?? [];
  const converted = Object.entries(rest).flatMap(([key, value]) => {
    if (KEYWORDS.some((keyword) => keyword === key)) return [];
    // Examples and defaults are values, whose keys are no keywords.
    if (key === 'examples' || key === 'default') return [[key, value]];
    return [[key, convert(value, key === 'properties' || key === '$defs')]];
  });
  return {
    ...Object.fromEntries(converted),
    ...(pattern === undefined ? {} : { pattern: pattern.replace(OR_VARIABLE, '') }),
    ...(branches === undefined
      ? {}
      : anyOf?.length === 2 && branches.length === 1
        ? (convert(only, false) as object)
        : { anyOf: convert(branches, false) }),
  };
}

function mapValues(node: object, convertValue: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, convertValue(value)]));
}

const DERIVED = /^ *"(?:markdownDescription|patternErrorMessage)": /;
const MEMBER = /^( *)"(description|pattern)": (".*?"),?$/;

/**
 * Returns the text of a schema with the keywords that follow from others: `markdownDescription` for descriptions with code, and
 * `patternErrorMessage` from the title and the examples. Works on lines, which keeps the layout of the file.
 */
export function addEditorKeywords(text: string): string {
  const lines = text.split('\n').filter((line) => !DERIVED.test(line));
  return lines
    .map((line, index) => {
      const [, indent = '', key, value = ''] = MEMBER.exec(line) ?? [];
      const derived =
        key === 'description' && value.includes('`')
          ? `"markdownDescription": ${value}`
          : key === 'pattern'
            ? patternErrorMessage(lines, index, indent)
            : undefined;
      if (derived === undefined) return line;
      return line.endsWith(',') ? `${line}\n${indent}${derived},` : `${line},\n${indent}${derived}`;
    })
    .join('\n');
}

/** Returns the message for a value that does not match the pattern on a line. */
function patternErrorMessage(lines: readonly string[], index: number, indent: string): string | undefined {
  const isOutside = (line: string) => !line.startsWith(indent);
  const start = lines.findLastIndex((line, at) => at < index && isOutside(line)) + 1;
  const end = lines.findIndex((line, at) => at > index && isOutside(line));
  const members = lines.slice(start, end).filter((line) => line.startsWith(`${indent}"`));
  const { title, examples } = JSON.parse(`{${members.filter(isComplete).join('').replace(/,\s*$/, '')}}`);
  if (title === undefined) return undefined;
  // A text of digits needs quotes, or YAML reads a number.
  const texts: string[] | undefined = examples?.map((text: unknown) =>
    typeof text === 'string' && /^\d+$/.test(text) ? `'${text}'` : text,
  );
  const remedy = texts === undefined ? '' : `; write for example ${texts.join(' or ')}`;
  return `"patternErrorMessage": ${JSON.stringify(`This is not ${title}${remedy}`)}`;
}

/** True if a member of an object begins and ends on this line. */
function isComplete(line: string): boolean {
  return !/[{[]$/.test(line);
}
