/** A text that is not parsed yet. */
export interface Source {
  /** The file name that problems print. */
  readonly path: string;
  readonly text: string;
}

/** The limit of each file of a manifest. 10,000 routes have about 2 MB. */
export const MAX_FILE_BYTES = 5_000_000;

/** The environment variables and files that a manifest may use. `load` has no other inputs. */
export interface Environment {
  /** Environment variables, for `${NAME}` in values. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Returns the text of a file by its path relative to the manifest, as `decodeText` does. Throws the errors of `fs`, and `EFBIG`
   * above the limit.
   */
  readonly readFile: (path: string) => string;
  /** Returns the names in a folder by its path relative to the manifest. Throws the errors of `fs`. By default there are no folders. */
  readonly listFolder?: (path: string) => readonly string[];
}
