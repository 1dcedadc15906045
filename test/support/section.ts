import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const root = new URL('../../', import.meta.url);

/**
 * Holds the part of a page between `<!-- name -->` and `<!-- /name -->` to what the code says. With
 * UPDATE_GOLDEN=1 the page is rewritten instead.
 */
export function expectSection(page: string, name: string, expected: string): void {
  const file = new URL(page, root);
  const text = readFileSync(file, 'utf8');
  const bounds = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
  const [, , found] = bounds.exec(text) ?? [];
  expect(found, `${page} has no section "${name}"`).toBeDefined();
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(
      file,
      text.replace(bounds, (_all, open, _old, close) => open + expected + close),
    );
  else expect(found).toBe(expected);
}
