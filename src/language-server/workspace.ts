import { type Dirent, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { createFileEnvironment, type FileEnvironment, readText } from '../manifest/file-environment.ts';
import { expandGlob } from '../manifest/file-glob.ts';
import type { Environment } from '../manifest/source.ts';
import { isNamedManifest, readLinks } from './file-links.ts';
import { createTextFile, openTextFile, type TextFile } from './text-file.ts';

/** The limits of a search for YAML files. Somebody may open the root of the file system. */
const MAX_FOLDERS = 5_000;
const MAX_YAML_FILES = 5_000;
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'vendor', 'target']);

/** The files of a project, with the unsaved texts of the editor in place of those on disk. */
export class Workspace {
  readonly #env: Environment['env'];
  readonly #open = new Map<string, TextFile>();
  /** The manifests of each part, until the files or the links of a manifest change. */
  readonly #owners = new Map<string, readonly string[]>();
  #yamlFiles: readonly string[] | undefined;
  #roots: readonly string[] = [];

  constructor(env: Environment['env']) {
    this.#env = env;
  }

  /** Sets the folders that the editor has opened. */
  setRoots(roots: readonly string[]): void {
    this.#roots = roots;
    this.forgetFolders();
  }

  /** Adds a document of the editor, or its changed text. */
  open(path: string, document: TextDocument): void {
    const before = this.#open.get(path);
    const file = openTextFile(path, document);
    if (before === undefined || !isDeepStrictEqual(readLinks(before), readLinks(file))) this.#owners.clear();
    this.#open.set(path, file);
  }

  close(path: string): void {
    this.#open.delete(path);
    this.forgetFolders();
  }

  /** Returns a file that the editor has open. */
  openFile(path: string): TextFile | undefined {
    return this.#open.get(path);
  }

  /** Returns the address of a file as the editor has written it. */
  uriOf(path: string): string {
    return this.#open.get(path)?.uri ?? pathToFileURL(path).href;
  }

  openFiles(): readonly TextFile[] {
    return [...this.#open.values()];
  }

  /** Returns a file; `undefined` if it cannot be read. */
  file(path: string): TextFile | undefined {
    const open = this.#open.get(path);
    if (open !== undefined) return open;
    try {
      return createTextFile(path, readText(path));
    } catch {
      return undefined;
    }
  }

  /** Returns the files and variables that a manifest may use, with the texts of the editor. */
  environmentOf(manifest: string, env = this.#env): FileEnvironment {
    const onDisk = createFileEnvironment(manifest, env);
    const folder = dirname(manifest);
    return { ...onDisk, readFile: (path) => this.#open.get(resolve(folder, path))?.text ?? onDisk.readFile(path) };
  }

  /** Runs a function with other texts in some files, as if somebody had typed them. */
  withTexts<Result>(texts: ReadonlyMap<string, string>, run: () => Result): Result {
    const before = new Map([...texts.keys()].map((path) => [path, this.#open.get(path)]));
    for (const [path, text] of texts) this.#open.set(path, createTextFile(path, text));
    try {
      return run();
    } finally {
      for (const [path, file] of before) {
        if (file === undefined) this.#open.delete(path);
        else this.#open.set(path, file);
      }
    }
  }

  /**
   * Returns the manifests that a file belongs to: those that include it, the one that a test file names, or a manifest itself.
   * Sorted; empty for a file that is none of the gateway's.
   */
  manifestsOf(file: TextFile): readonly string[] {
    const { role, manifest } = readLinks(file);
    if (role === 'test-file') return manifest === undefined ? [] : [manifest];
    if (isNamedManifest(file)) return [file.path];
    const known = this.#owners.get(file.path);
    if (known !== undefined) return known;
    const owners = this.#find((other) => this.partsOf(other).includes(file.path)).map(({ path }) => path);
    const manifests = owners.length === 0 && role === 'manifest' ? [file.path] : owners;
    this.#owners.set(file.path, manifests);
    return manifests;
  }

  /** Returns the paths of the files that a manifest includes, and of the one with its invariants. */
  partsOf(file: TextFile): string[] {
    const { include, invariants } = readLinks(file);
    if (include.length === 0) return invariants === undefined ? [] : [invariants];
    const environment = this.environmentOf(file.path);
    const included = include.flatMap((pattern) => expandGlob(pattern, environment));
    return [
      ...included.map((path) => resolve(dirname(file.path), path)),
      ...(invariants === undefined ? [] : [invariants]),
    ];
  }

  /** Returns the test files that name a manifest, sorted. */
  testFilesOf(manifest: string): TextFile[] {
    return this.#find((file) => readLinks(file).manifest === manifest);
  }

  /** Searches the folders again: a file was created or removed. */
  forgetFolders(): void {
    this.#owners.clear();
    this.#yamlFiles = undefined;
  }

  #find(isFound: (file: TextFile) => boolean): TextFile[] {
    const paths = new Set([...this.#open.keys(), ...this.#listYamlFiles()]);
    return [...paths].sort().flatMap((path) => {
      const file = this.file(path);
      return file !== undefined && isFound(file) ? [file] : [];
    });
  }

  #listYamlFiles(): readonly string[] {
    const folders = this.#roots.length > 0 ? this.#roots : [...this.#open.keys()].map((path) => dirname(path));
    this.#yamlFiles ??= findYamlFiles([...new Set(folders)]);
    return this.#yamlFiles;
  }
}

/** Finds YAML files below folders, the nearest ones first, up to a limit. Does not follow links. */
function findYamlFiles(roots: readonly string[]): string[] {
  const found: string[] = [];
  const folders = [...roots];
  for (let next = 0; next < folders.length && next < MAX_FOLDERS; next += 1) {
    const folder = folders[next] ?? '';
    for (const entry of entriesOf(folder)) {
      if (entry.name.startsWith('.') || SKIPPED_FOLDERS.has(entry.name)) continue;
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else if (entry.isFile() && /\.ya?ml$/.test(entry.name)) found.push(join(folder, entry.name));
      if (found.length === MAX_YAML_FILES) return found;
    }
  }
  return found;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Another user's folder, or one that was removed.
    return [];
  }
}
