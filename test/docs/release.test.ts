import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pinActions, pinImages, unpinnedIn } from '../../scripts/pin.ts';
import { releaseNotes } from '../../scripts/release-notes.ts';
import { expectSection } from '../support/section.ts';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const version: string = JSON.parse(read('package.json')).version;

describe('docs/release.md', () => {
  it('lists every file with a placeholder', () => {
    const tracked = execFileSync('git', ['ls-files'], { cwd: fileURLToPath(root), encoding: 'utf8' })
      .trim()
      .split('\n');
    const files = tracked.filter((file) => !/^(?:test|src|bench)\/|^docs\/release\.md$|\.png$/.test(file));
    const rows = (['OWNER', 'registry.example'] as const).map((name) => {
      const text = name === 'OWNER' ? 'OWNER/signing-gateway' : `${name}/signing-gateway`;
      const found = files.filter((file) => read(file).includes(text));
      return `| \`${name}\` | ${found.map((file) => `\`${file}\``).join(', ')} |`;
    });
    expectSection(
      'docs/release.md',
      'placeholders',
      `${['| placeholder | files |', '|---|---|', ...rows].join('\n')}\n`,
    );
    expect(read('README.md')).toContain('(docs/release.md');
  });
});

describe('scripts/release-notes.ts', () => {
  const changelog = `# Changelog\n\n## Unreleased\n\n- later\n\n## 1.2.0 - 2027-01-31\n\n### Added\n\n- a key\n\n## 1.1.0\n\n## 1.0.0\n\n- first\n`;

  it('prints the section of the version', () => {
    expect(releaseNotes('v1.2.0', '1.2.0', changelog)).toBe('### Added\n\n- a key\n');
    expect(releaseNotes('v1.0.0', '1.0.0', changelog)).toBe('- first\n');
  });

  it.each([
    ['v1.2.1', '1.2.0', 'the tag v1.2.1 is not v1.2.0'],
    ['v1.3.0', '1.3.0', 'CHANGELOG.md has no section "## 1.3.0"'],
    ['v1.1.0', '1.1.0', 'the section "## 1.1.0" of CHANGELOG.md is empty'],
  ])('refuses the tag %s for the version %s', (tag, ofPackage, message) => {
    expect(() => releaseNotes(tag, ofPackage, changelog)).toThrow(message);
  });

  it('exits with 1 for this version, which has no release yet', () => {
    const run = () =>
      execFileSync(process.execPath, ['scripts/release-notes.ts', `v${version}`], {
        cwd: fileURLToPath(root),
        stdio: 'pipe',
      });
    expect(run).toThrow(/no section/);
  });
});

describe('scripts/pin.ts', () => {
  const commit = '0'.repeat(40);
  const digest = `sha256:${'1'.repeat(64)}`;
  const digests = { commitOf: async () => commit, digestOf: async () => digest };

  it('pins each action and each image once, and keeps its version', async () => {
    const workflow = '      - uses: actions/checkout@v4\n      - uses: github/codeql-action/upload-sarif@v3\n';
    const pinned = await pinActions(workflow, digests);
    expect(pinned).toBe(
      `      - uses: actions/checkout@${commit} # v4\n      - uses: github/codeql-action/upload-sarif@${commit} # v3\n`,
    );
    expect(await pinActions(pinned, digests)).toBe(pinned);
    const image = await pinImages('FROM node:26.10.0-bookworm-slim AS build\n', digests);
    expect(image).toBe(`FROM node:26.10.0-bookworm-slim@${digest} AS build\n`);
    expect(await pinImages(image, digests)).toBe(image);
    expect([unpinnedIn(workflow).length, unpinnedIn(pinned), unpinnedIn(image)]).toEqual([2, [], []]);
  });

  it('finds every action and image of the project', () => {
    const uses = ['action.yml', '.github/workflows/nightly.yml', '.github/workflows/release.yml'].map(
      (file) => [read(file).match(/uses: /g)?.length, unpinnedIn(read(file)).length] as const,
    );
    for (const [count, found] of uses) expect(found).toBe(count);
    expect(unpinnedIn(read('Dockerfile'))).toHaveLength(3);
  });
});

describe('.github/workflows/release.yml', () => {
  it('runs the check of the project first, and gives each job only the permissions that it needs', () => {
    const { on, permissions, jobs } = parse(read('.github/workflows/release.yml'));
    expect([on, permissions]).toEqual([{ push: { tags: ['v*'] } }, { contents: 'read' }]);
    expect(jobs.check.steps.at(-1).run).toBe('bash .ci/run');
    for (const name of ['package', 'image']) expect(jobs[name].needs).toBe('check');
    const writes = (job: string) => Object.entries(jobs[job].permissions).filter(([, value]) => value === 'write');
    expect([writes('package').length, writes('image').length]).toEqual([3, 2]);
  });

  it('has steps whose commands exist', () => {
    const { jobs } = parse(read('.github/workflows/release.yml'));
    const text = [jobs.check, jobs.package]
      .flatMap(({ steps }) => steps.map(({ run = '' }: { run?: string }) => run))
      .join('\n');
    for (const [, file = ''] of text.matchAll(/(scripts\/[\w-]+\.ts|\.ci\/run)/g)) expect(read(file)).not.toBe('');
    expect(text).toContain('dist/sbom.cdx.json');
    expect(read('scripts/sbom.ts')).toContain('dist/sbom.cdx.json');
  });
});
