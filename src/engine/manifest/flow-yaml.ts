/** Formats a value in the flow style of YAML, on one line. */
export function formatFlow(value: unknown): string {
  if (typeof value === 'string') return formatScalar(value);
  if (Array.isArray(value)) return `[${value.map(formatFlow).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const texts = members.map(([key, member]) => `${formatScalar(key)}: ${formatFlow(member)}`);
  return texts.length === 0 ? '{}' : `{ ${texts.join(', ')} }`;
}

/** A text that is the same text without quotes, in every position and YAML version. */
const PLAIN = /^[A-Za-z/][\w./?&=%@+~-]*(?: [\w./=%@+~-]+)*$/;
/** Plain texts that YAML reads as another value. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i;

/** A JSON string is also a YAML string. JSON leaves some line separators as they are, so they are escaped here. */
function formatScalar(text: string): string {
  if (PLAIN.test(text) && !RESERVED.test(text)) return text;
  return JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
