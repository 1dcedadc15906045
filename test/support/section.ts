import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const root = new URL('../../', import.meta.url);

/**
 * Expects the part of a page between `<!-- name -->` and `<!-- /name -->` to be this text. With UPDATE_GOLDEN=1 it rewrites the
 * page instead.
 */
export function expectSection(page: string, name: string, expected: string): void {
  const file = new URL(page, root);
  const text = readFileSync(file, 'utf8');
  const bounds = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
  const [, , section] = bounds.exec(text) ?? [];
  expect(section, `${page} has no section "${name}"`).toBeDefined();
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(
      file,
      text.replace(bounds, (_all, start, _old, end) => start + expected + end),
    );
  else expect(section).toBe(expected);
}
