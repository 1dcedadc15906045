import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { attempt } from '../engine/attempt.ts';
import { expandGlob } from '../engine/manifest/dependencies.ts';
import { createFileEnvironment, type Environment, type FileEnvironment } from '../engine/manifest/source.ts';
import { type FileLinks, isNamedManifest, readLinks } from './file-links.ts';
import { createTextFile, openTextFile, type TextFile } from './text-file.ts';

/** The limits of a search for YAML files. Somebody may open the root of the file system. */
const MAX_FOLDERS = 5_000;
const MAX_YAML_FILES = 5_000;
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'vendor', 'target']);

/** The files of a project, with the unsaved texts of the editor in place of those on disk. */
export class Workspace {
  readonly #env: Environment['env'];
  /** Reads files by absolute paths. */
  readonly #disk: FileEnvironment;
  readonly #open = new Map<string, TextFile>();
  /** The addresses of files that are or were open, as the editor has written them. */
  readonly #uris = new Map<string, string>();
  /** The links of files on disk, by path: an editor may open many files beside thousands of others. */
  readonly #links = new Map<string, { readonly modifiedMs: number; readonly links: FileLinks | undefined }>();
  /** The manifests of each part, until the files or the links of a manifest change. */
  #owners: ReadonlyMap<string, readonly string[]> | undefined;
  #yamlFiles: readonly string[] | undefined;
  #roots: readonly string[] = [];

  constructor(env: Environment['env']) {
    this.#env = env;
    this.#disk = createFileEnvironment('.', env);
  }

  /** Sets the folders that the editor has opened. */
  setRoots(roots: readonly string[]): void {
    this.#roots = roots;
    this.forgetFolders();
  }

  open(path: string, document: TextDocument): void {
    const before = this.#open.get(path);
    const file = openTextFile(path, document);
    this.#open.set(path, file);
    this.#uris.set(path, document.uri);
    // Without folders, the editor has the folder of each open file.
    if (before === undefined && this.#roots.length === 0) this.forgetFolders();
    const links = [before, file].map((version) => version && readLinks(version));
    if (!isDeepStrictEqual(links[0], links[1]) && links.some((one) => one?.role === 'manifest'))
      this.#owners = undefined;
  }

  close(path: string): void {
    this.#open.delete(path);
    this.forgetFolders();
  }

  openFile(path: string): TextFile | undefined {
    return this.#open.get(path);
  }

  /** Returns the address of a file as the editor has written it. */
  uriOf(path: string): string {
    return this.#uris.get(path) ?? pathToFileURL(path).href;
  }

  openFiles(): readonly TextFile[] {
    return [...this.#open.values()];
  }

  /** Returns a file; `undefined` if it cannot be read. */
  file(path: string): TextFile | undefined {
    const open = this.#open.get(path);
    if (open !== undefined) return open;
    // Editors do not count a byte order mark in positions.
    return attempt(() => createTextFile(path, this.#disk.readFile(path).replace(/^\uFEFF/, '')));
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

  /** Returns the manifests that a file belongs to, sorted: those that include it, the one that a test file names, or itself. */
  manifestsOf(file: TextFile): readonly string[] {
    const { role, manifest } = readLinks(file);
    if (role === 'test-file') return manifest === undefined ? [] : [manifest];
    if (isNamedManifest(file)) return [file.path];
    const owners = this.#ownersOf(file.path);
    return owners.length === 0 && role === 'manifest' ? [file.path] : owners;
  }

  /** Returns the paths of the files that a manifest includes, and of the one with its invariants. */
  partsOf(manifest: string): string[] {
    const { include = [], invariants } = this.#linksOf(manifest) ?? {};
    const environment = this.environmentOf(manifest);
    const included = include.flatMap((pattern) => expandGlob(pattern, environment));
    return [
      ...included.map((path) => resolve(dirname(manifest), path)),
      ...(invariants === undefined ? [] : [invariants]),
    ];
  }

  testFilesOf(manifest: string): TextFile[] {
    const paths = this.#yamlPaths().filter((path) => this.#linksOf(path)?.manifest === manifest);
    return paths.flatMap((path) => this.file(path) ?? []);
  }

  /** Searches the folders again: a file was created or removed. */
  forgetFolders(): void {
    this.#owners = undefined;
    this.#yamlFiles = undefined;
  }

  #ownersOf(part: string): readonly string[] {
    this.#owners ??= this.#findOwners();
    return this.#owners.get(part) ?? [];
  }

  #findOwners(): Map<string, string[]> {
    const owners = new Map<string, string[]>();
    for (const path of this.#yamlPaths()) {
      if (this.#linksOf(path)?.role !== 'manifest') continue;
      for (const part of new Set(this.partsOf(path))) owners.set(part, [...(owners.get(part) ?? []), path]);
    }
    return owners;
  }

  #linksOf(path: string): FileLinks | undefined {
    const open = this.#open.get(path);
    if (open !== undefined) return readLinks(open);
    const modifiedMs = this.#disk.modifiedMs(path);
    const known = this.#links.get(path);
    if (known?.modifiedMs === modifiedMs) return known.links;
    const file = this.file(path);
    const links = file && readLinks(file);
    this.#links.set(path, { modifiedMs, links });
    return links;
  }

  /** Returns the paths of all YAML files that are open or in the folders of the editor, sorted. */
  #yamlPaths(): string[] {
    const folders = this.#roots.length > 0 ? this.#roots : [...this.#open.keys()].map((path) => dirname(path));
    this.#yamlFiles ??= findYamlFiles([...new Set(folders)]);
    return [...new Set([...this.#open.keys(), ...this.#yamlFiles])].sort();
  }
}

/** Finds YAML files below folders, the nearest ones first, up to a limit. Does not follow links. */
function findYamlFiles(roots: readonly string[]): string[] {
  const found: string[] = [];
  const folders = [...roots];
  for (let next = 0; next < folders.length && next < MAX_FOLDERS; next += 1) {
    const folder = folders[next] ?? '';
    // Nothing of another user's folder, or of one that was removed.
    for (const entry of attempt(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
      if (entry.name.startsWith('.') || SKIPPED_FOLDERS.has(entry.name)) continue;
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else if (entry.isFile() && /\.ya?ml$/.test(entry.name)) found.push(join(folder, entry.name));
      if (found.length === MAX_YAML_FILES) return found;
    }
  }
  return found;
}
