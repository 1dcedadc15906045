import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { describe, expect, it } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const pages = globSync(['*.md', '{docs,src,bench,examples,editors}/**/*.md'], { cwd: root });
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Returns the anchors of the headings of a page, as GitHub writes them. */
function anchorsOf(page: string): string[] {
  const text = read(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the links of a page to files and headings that do not exist. */
function brokenLinksOf(page: string): string[] {
  const text = read(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
  return links.flatMap(([, path = '', anchor]) => {
    const target = path === '' ? page : normalize(join(dirname(page), path));
    const isBroken = !existsSync(join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    return isBroken ? [`${page}: ${path}${anchor === undefined ? '' : `#${anchor}`}`] : [];
  });
}

describe('documentation', () => {
  it('links only to existing files and headings', () => {
    expect(pages.flatMap(brokenLinksOf)).toEqual([]);
  });

  it('names only existing source files', () => {
    const missing = pages.flatMap((page) => {
      const paths = [...read(page).matchAll(/`((?:src|test|schema|deploy|scripts|bench|examples)\/[\w./-]+\.\w+)`/g)];
      return paths.flatMap(([, path = '']) => (existsSync(join(root, path)) ? [] : [`${page}: ${path}`]));
    });
    expect(missing).toEqual([]);
  });

  it('has every page in its index', () => {
    const index = read('docs/README.md');
    const unlisted = globSync('*.md', { cwd: join(root, 'docs') }).filter((name) => !index.includes(`(${name})`));
    expect(unlisted).toEqual(['README.md']);
  });
});
