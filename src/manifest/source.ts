/** What the author wrote, before anyone read it. */
export interface Source {
  /** The file's name as it is shown in problems. */
  readonly path: string;
  readonly text: string;
}

/** What a manifest may ask of the machine it is loaded on. `load` has no other way out. */
export interface World {
  /** Environment variables, for `${NAME}` in values. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file that the manifest names, by a path relative to the manifest. Throws what `fs` throws. */
  readonly readFile: (path: string) => string;
  /** The names of what is in a folder, by its path relative to the manifest. Throws what `fs` throws; left out: no folders. */
  readonly listFolder?: (path: string) => readonly string[];
}
