/** The attributes of an element, each with a blank before it. */
export function xmlAttributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`)
    .join('');
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters, most of which XML 1.0 cannot hold (section 2.2), are left out; white space is kept in attributes too. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\u007E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"]/g, (found) => ESCAPES[found] ?? found)
    .replaceAll(/[\t\n\r]/g, (found) => `&#${found.charCodeAt(0)};`);
}
