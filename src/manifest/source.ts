/** What the author wrote, before anyone read it. */
export interface Source {
  /** The file's name as it is shown in problems. */
  readonly path: string;
  readonly text: string;
}

/** No file of a manifest is larger: one of 10,000 routes has about 2 MB. */
export const MAX_FILE_BYTES = 5_000_000;

/** What a manifest may ask of the machine it is loaded on. `load` has no other way out. */
export interface Environment {
  /** Environment variables, for `${NAME}` in values. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file that the manifest names, by a path relative to the manifest. Throws what `fs` throws, `EFBIG` beyond the limit. */
  readonly readFile: (path: string) => string;
  /** The names of what is in a folder, by its path relative to the manifest. Throws what `fs` throws; left out: no folders. */
  readonly listFolder?: (path: string) => readonly string[];
}
