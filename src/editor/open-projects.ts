import { isDeepStrictEqual } from 'node:util';
import { load } from '../engine/load.ts';
import { type Problem, toProblems } from '../engine/problem/problem.ts';
import { FileWatcher } from '../process/reload/file-watcher.ts';
import { findUnknownReferences, manifestProblem, readTestFile } from '../prove/testing/read-test-file.ts';
import { readLinks } from './file-links.ts';
import { findOccurrences, type NameOccurrence } from './names.ts';
import { Project } from './project.ts';
import type { TextFile } from './text-file.ts';
import type { Workspace } from './workspace.ts';

/** The pause after a change before the files are checked: an editor sends several changes at once, and requests are served meanwhile. */
const DELAY_MS = 100;
/** The pause before the self-test runs, which takes longer than all other checks. */
const SELF_TEST_DELAY_MS = 300;

interface ProjectEvents {
  /** Called with all problems of a file when they have changed. */
  readonly onProblems: (path: string, problems: readonly Problem[]) => void;
  /** Called with an error that no file can cause. The server continues with the next change. */
  readonly onError: (error: unknown) => void;
}

/** The projects of the open files. Checks them after each change, in the editor or on disk, and reports the problems of all their files. */
export class OpenProjects {
  readonly #workspace: Workspace;
  readonly #events: ProjectEvents;
  readonly #projects = new Map<string, Project>();
  readonly #reported = new Map<string, readonly Problem[]>();
  readonly #watcher: FileWatcher;
  #watched: object = {};
  #timer: NodeJS.Timeout | undefined;
  #selfTestTimer: NodeJS.Timeout | undefined;
  #changes = 0;
  /** The files that have changed since the last check; `undefined`: any. */
  #changedPaths: Set<string> | undefined = new Set();

  constructor(workspace: Workspace, events: ProjectEvents) {
    this.#workspace = workspace;
    this.#events = events;
    this.#watcher = new FileWatcher(() => this.filesChanged());
  }

  /** Checks the projects of a file soon: the editor has opened it or has another text. */
  textChanged(path: string): void {
    this.#changedPaths?.add(path);
    this.#schedule();
  }

  /** Checks all projects soon: a file on disk has changed. */
  filesChanged(): void {
    this.#workspace.forgetFolders();
    this.#watcher.refresh();
    this.#changedPaths = undefined;
    this.#schedule();
  }

  projectsOf(file: TextFile): Project[] {
    if (this.#timer !== undefined) this.update();
    return this.#workspace.manifestsOf(file).flatMap((manifest) => this.#projects.get(manifest) ?? []);
  }

  /** Returns the projects of a file, and those whose manifests share a file that has the name: a rename changes them too. */
  projectsOfName(file: TextFile, name: NameOccurrence): Project[] {
    const found = new Map(this.projectsOf(file).map((project) => [project.manifest, project]));
    // The loop also visits the projects that it adds.
    for (const project of found.values())
      for (const other of new Set(findOccurrences(name, project.allFiles()).map(({ file: one }) => one)))
        for (const manifest of this.#workspace.manifestsOf(other))
          if (!found.has(manifest)) found.set(manifest, this.#projects.get(manifest) ?? this.#check(manifest));
    return [...found.values()];
  }

  /** Checks the projects of the changed files now, and reports the problems that have changed. */
  update(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const changed = this.#changedPaths;
    this.#changedPaths = new Set();
    for (const project of this.#findProjects()) {
      const isNew = !this.#projects.has(project.manifest);
      this.#projects.set(project.manifest, project);
      if (isNew || changed === undefined || project.usesAny(changed)) project.check();
    }
    this.#report();
    this.#watch();
    clearTimeout(this.#selfTestTimer);
    this.#selfTestTimer = setTimeout(() => this.#attempt(() => this.#runSelfTests()), SELF_TEST_DELAY_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#selfTestTimer);
    this.#watcher.close();
  }

  #schedule(): void {
    this.#changes += 1;
    clearTimeout(this.#selfTestTimer);
    this.#timer ??= setTimeout(() => this.#attempt(() => this.update()), DELAY_MS);
  }

  /** Returns the projects of the open files, and removes all others. */
  #findProjects(): Project[] {
    const manifests = new Set(this.#workspace.openFiles().flatMap((file) => this.#workspace.manifestsOf(file)));
    for (const manifest of this.#projects.keys()) if (!manifests.has(manifest)) this.#projects.delete(manifest);
    return [...manifests].map((manifest) => this.#projects.get(manifest) ?? new Project(manifest, this.#workspace));
  }

  /** Checks the project of a manifest of which no file is open. */
  #check(manifest: string): Project {
    const project = new Project(manifest, this.#workspace);
    project.check();
    return project;
  }

  async #runSelfTests(): Promise<void> {
    const changes = this.#changes;
    for (const project of this.#projects.values()) await project.runSelfTest(() => this.#changes === changes);
    if (this.#changes === changes) this.#report();
  }

  #report(): void {
    const problems = Map.groupBy(this.#findProblems(), ({ file }) => file);
    for (const path of new Set([...this.#reported.keys(), ...problems.keys()])) {
      const own = problems.get(path) ?? [];
      if (isDeepStrictEqual(own, this.#reported.get(path) ?? [])) continue;
      if (own.length === 0) this.#reported.delete(path);
      else this.#reported.set(path, own);
      this.#events.onProblems(path, own);
    }
  }

  /** Returns the problems of all projects. A file of two manifests often has the same one twice. */
  #findProblems(): Problem[] {
    const testFiles = this.#workspace.openFiles().filter((file) => readLinks(file).role === 'test-file');
    const all = [
      ...[...this.#projects.values()].flatMap(({ problems }) => problems),
      ...testFiles.flatMap((file) => findTestFileProblems(file, this.#workspace)),
    ];
    return [...new Map(all.map((problem) => [JSON.stringify(problem), problem])).values()];
  }

  #watch(): void {
    const watched = [...this.#projects.values()].map((project) => project.watchedPaths());
    if (isDeepStrictEqual(watched, this.#watched)) return;
    this.#watched = watched;
    this.#watcher.watch(
      watched.flatMap(({ files }) => files),
      watched.flatMap(({ folders }) => folders),
    );
  }

  #attempt(run: () => void | Promise<void>): void {
    Promise.try(run).catch((error) => this.#events.onError(error));
  }
}

/** Returns the problems that the verb `test` reports before it runs the cases of a test file. */
function findTestFileProblems(file: TextFile, workspace: Workspace): readonly Problem[] {
  const { testFile, problems } = readTestFile(file);
  if (testFile === undefined) return problems;
  const [manifest = ''] = workspace.manifestsOf(file);
  const source = workspace.file(manifest);
  if (source === undefined) return manifestProblem(testFile, 'ENOENT');
  const planned = load(source, workspace.environmentOf(manifest, testFile.testFile.environment));
  // The problems of the manifest have their places there.
  if (planned.plan === undefined) return [];
  return toProblems(findUnknownReferences(testFile.testFile, planned), testFile.document);
}
