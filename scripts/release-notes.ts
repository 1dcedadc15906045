/**
 * Prints the notes of a release: the section of CHANGELOG.md for the version of package.json. Exits with 1 if the tag is not this version,
 * or if the changelog has no section for it.
 *
 *     node scripts/release-notes.ts v0.1.0
 */
import { readFileSync } from 'node:fs';

/** Returns the notes for a tag. @throws Error if the tag, the version and the changelog do not fit together */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`the tag ${tag} is not v${version}, the version of package.json`);
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"; rename "Unreleased"`);
  const notes = section.slice(section.indexOf('\n')).trim();
  if (notes === '') throw new Error(`the section "## ${version}" of CHANGELOG.md is empty`);
  return `${notes}\n`;
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  try {
    process.stdout.write(
      releaseNotes(process.argv[2] ?? '', JSON.parse(read('package.json')).version, read('CHANGELOG.md')),
    );
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
