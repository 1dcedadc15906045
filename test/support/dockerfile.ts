import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;

export interface Instruction {
  readonly name: string;
  readonly words: string;
}

/** Reads the stages of the Dockerfile. Each one begins with FROM. */
export function readStages(): Instruction[][] {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter(Boolean);
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = '', words = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, words });
  }
  return stages;
}

/** Returns the top-level names that .dockerignore includes in the build context. */
export function contextNames(): string[] {
  const [all, ...names] = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  if (all !== '*' || !names.every((name) => name.startsWith('!')))
    throw new Error('.dockerignore does not consist of "*" and exceptions');
  return names.map((name) => name.slice(1));
}

/** Returns the words of an instruction in JSON form. */
export function wordsOf(stage: readonly Instruction[], name: string): string[] {
  const { words = '[]' } = stage.findLast((instruction) => instruction.name === name) ?? {};
  return JSON.parse(words.slice(words.indexOf('[')));
}

/**
 * Runs the instructions in plain folders. Each stage has a folder as its root.
 *
 * @returns the root folders of the last and the first stage, and a function that removes all of them
 */
export function runStages(stages: readonly (readonly Instruction[])[]): {
  image: string;
  first: string;
  remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const context = join(folder, 'context');
  for (const name of contextNames()) cpSync(join(root, name), join(context, name), { recursive: true });
  const roots = stages.map((stage) => {
    const name = / AS (\w+)$/.exec(stage[0]?.words ?? '')?.[1] ?? 'image';
    runStage(stage, join(folder, name), (from) => (from === undefined ? context : join(folder, from)));
    return join(folder, name);
  });
  const remove = () => {
    execFileSync('chmod', ['-R', 'u+w', folder]);
    rmSync(folder, { recursive: true });
  };
  return { image: roots.at(-1) ?? '', first: roots[0] ?? '', remove };
}

function runStage(stage: readonly Instruction[], at: string, rootOf: (from: string | undefined) => string): void {
  let folder = at;
  for (const { name, words } of stage) {
    if (name === 'WORKDIR') {
      folder = join(at, words);
      mkdirSync(folder, { recursive: true });
    } else if (name === 'COPY') {
      const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(words) ?? [];
      const sources = paths.split(' ');
      const to = sources.pop() ?? '';
      // COPY copies the contents of a folder, and copies a file into a folder if the destination ends with a slash.
      for (const source of sources)
        cpSync(join(rootOf(from), source), resolve(folder, to.endsWith('/') ? join(to, basename(source)) : to), {
          recursive: true,
        });
    } else if (name === 'RUN') {
      execFileSync('sh', ['-c', words], { cwd: folder, stdio: 'pipe' });
    }
  }
}

/** Writes a manifest into the folder that the image reads. */
export function mountManifest(image: string, folder: string, text: string): string {
  const path = join(image, folder);
  writeFileSync(join(path, 'gateway.yaml'), text);
  return path;
}
