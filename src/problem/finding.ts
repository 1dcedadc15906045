/** The way to a value in the manifest: `['routes', 3, 'path']`. The empty path is the whole document. */
export type Path = readonly (string | number)[];

export type Severity = 'error' | 'warning' | 'info';

/** The gravest is the highest. */
export const SEVERITY_RANKS: Readonly<Record<Severity, number>> = { error: 2, warning: 1, info: 0 };

/**
 * Where in the manifest a finding stands. Checks speak in paths; only the parser, which fails before
 * there are any, speaks in offsets (UTF-16 code units from the start of the text, `end` exclusive).
 */
export type FindingLocation = (
  | { readonly path: Path; readonly at: 'key' | 'value' }
  | { readonly start: number; readonly end: number }
) & {
  /** The included file that it is meant in, as it stands there; left out: the manifest as a whole, or its own text. */
  readonly file?: string;
};

/**
 * A change of the text that mends what was found and keeps what was meant: other words for a value or a key, or
 * an item of a list that goes.
 */
export type Fix =
  | { readonly change: 'value' | 'key'; readonly path: Path; readonly text: string }
  | { readonly change: 'remove'; readonly path: Path };

/** A request, and the id of the route that gets it: `undefined` when none does. */
export interface RouteWitness {
  readonly method: string;
  readonly path: string;
  readonly route: string | undefined;
}

/** Something to tell the author of a manifest, before it has a line and a column. */
export interface Finding {
  /** Kebab-case id of the check that found it, stable across versions. */
  readonly rule: string;
  readonly severity: Severity;
  readonly location: FindingLocation;
  /** What is wrong, then what to write: lower case, no full stop. */
  readonly message: string;
  /** The other place, when there are two. */
  readonly related?: { readonly path: Path; readonly message: string; readonly file?: string };
  /** A request that shows it. */
  readonly witness?: RouteWitness;
  readonly fix?: Fix | undefined;
  /** What stands there is a secret: no text that is shown holds it. */
  readonly isSecret?: boolean;
}

/** An error at a value. */
export function errorAt(path: Path, rule: string, message: string): Finding {
  return { rule, severity: 'error', location: { path, at: 'value' }, message };
}

/** An error at the key that holds a value. */
export function errorAtKey(path: Path, rule: string, message: string): Finding {
  return { rule, severity: 'error', location: { path, at: 'key' }, message };
}
