import { dirname, normalize, resolve } from 'node:path';
import { lint } from '../check/lint/lint.ts';
import { type LoadResult, load, type PlannedManifest } from '../engine/load.ts';
import { globFolders } from '../engine/manifest/dependencies.ts';
import type { Problem } from '../engine/problem/problem.ts';
import type { TextFile } from './text-file.ts';
import type { Workspace } from './workspace.ts';

/** A manifest with the files that it includes and the test files that name it, as the editor has them. */
export class Project {
  /** The absolute path of the manifest. */
  readonly manifest: string;
  readonly #workspace: Workspace;
  #loaded: LoadResult | undefined;
  /** The last plan without errors: while somebody types, the text often has some. */
  planned: PlannedManifest | undefined;
  #problems: readonly Problem[] = [];
  #selfTestProblems: readonly Problem[] = [];

  constructor(manifest: string, workspace: Workspace) {
    this.manifest = manifest;
    this.#workspace = workspace;
  }

  /** The problems that `lint` reports, and those of the last self-test, by absolute paths. */
  get problems(): readonly Problem[] {
    return [...this.#problems, ...this.#selfTestProblems];
  }

  /** Loads and lints the manifest. Unchanged parts of the last plan are reused. */
  check(): void {
    const file = this.#workspace.file(this.manifest);
    const loaded = file && this.#load(file);
    this.#loaded = loaded;
    if (loaded === undefined || loaded.plan !== undefined) this.planned = loaded;
    if (loaded?.plan?.reload.selfTest === undefined) this.#selfTestProblems = [];
    this.#problems = loaded === undefined ? [] : absoluteProblems(lint(loaded));
  }

  /** Runs the self-test of the manifest, if it loads and has one. The result is not used unless `isCurrent()` still returns true. */
  async runSelfTest(isCurrent: () => boolean): Promise<void> {
    const loaded = this.#loaded;
    if (loaded?.plan === undefined || loaded.plan.reload.selfTest === undefined) return;
    // Imported lazily: it loads the complete gateway.
    const { runSelfTest } = await import('../prove/self-test.ts');
    const { problems } = await runSelfTest(loaded, this.#workspace.environmentOf(this.manifest));
    if (isCurrent()) this.#selfTestProblems = absoluteProblems(problems);
  }

  /** Returns the problems in one file if it had another text. */
  problemsWith(file: TextFile, text: string): Problem[] {
    const problems = this.#workspace.withTexts(new Map([[file.path, text]]), () => {
      const source = this.#workspace.file(this.manifest);
      return source === undefined ? [] : lint(this.#load(source));
    });
    return absoluteProblems(problems).filter((problem) => problem.file === file.path);
  }

  /** Returns the first error that other texts cause; `undefined` if the manifest has no more errors with them than now. */
  firstErrorWith(texts: ReadonlyMap<string, string>): Problem | undefined {
    return this.#workspace.withTexts(texts, () => {
      const file = this.#workspace.file(this.manifest);
      if (file === undefined) return undefined;
      const before = errorsOf(this.#loaded);
      const after = errorsOf(this.#load(file));
      if (after.length <= before.length) return undefined;
      return after.find(({ message }) => before.every((error) => error.message !== message));
    });
  }

  /** True if the manifest depends on one of these files. */
  usesAny(paths: ReadonlySet<string>): boolean {
    return this.watchedPaths().files.some((path) => paths.has(path));
  }

  /** Returns the manifest, the files that it includes and the one with its invariants, also if it does not load. */
  sources(): TextFile[] {
    const paths = new Set([this.manifest, ...this.#workspace.partsOf(this.manifest)]);
    return [...paths].flatMap((path) => this.#workspace.file(path) ?? []);
  }

  /** Returns the sources and the test files that name the manifest. */
  allFiles(): TextFile[] {
    const files = [...this.sources(), ...this.#workspace.testFilesOf(this.manifest)];
    return [...new Map(files.map((file) => [file.path, file])).values()];
  }

  /** Returns the files on disk that the manifest depends on, and the folders in which a new file may be included. */
  watchedPaths(): { readonly files: readonly string[]; readonly folders: readonly string[] } {
    const folder = dirname(this.manifest);
    const environment = this.#workspace.environmentOf(this.manifest);
    const { files = new Map(), globs = new Map() } = this.#loaded ?? {};
    const selfTest = this.planned?.plan.reload.selfTest;
    const named = [...files.keys(), ...(selfTest === undefined ? [] : [selfTest])];
    const sources = this.sources().map(({ path }) => path);
    return {
      files: [...new Set([this.manifest, ...sources, ...named.map((path) => resolve(folder, path))])],
      folders: [...globs.keys()]
        .flatMap((pattern) => globFolders(pattern, environment))
        .map((path) => resolve(folder, path)),
    };
  }

  #load({ path, text }: TextFile): LoadResult {
    return load({ path, text }, this.#workspace.environmentOf(path), this.planned?.plan);
  }
}

function errorsOf(loaded: LoadResult | undefined): Problem[] {
  return (loaded?.problems ?? []).filter(({ severity }) => severity === 'error');
}

function absoluteProblems(problems: readonly Problem[]): Problem[] {
  return problems.map((problem) => {
    const { file, related } = problem;
    const second = related?.file === undefined ? related : { ...related, file: normalize(related.file) };
    return { ...problem, file: normalize(file), ...(second && { related: second }) };
  });
}
