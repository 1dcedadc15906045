/** The path of a value in the manifest: `['routes', 3, 'path']`. The empty path is the complete document. */
export type Path = readonly (string | number)[];

export type Severity = 'error' | 'warning' | 'info';

/** A higher rank is more severe. */
export const SEVERITY_RANKS: Readonly<Record<Severity, number>> = { error: 2, warning: 1, info: 0 };

/** The location of a finding: a path, or offsets of the parser, which has no paths yet (UTF-16 code units, `end` exclusive). */
export type FindingLocation = (
  | { readonly path: Path; readonly at: 'key' | 'value' }
  | { readonly start: number; readonly end: number }
) & {
  /** The included file that the location is relative to; by default the merged manifest, or its own text. */
  readonly file?: string;
};

/** A safe change that fixes a finding: another value, another key, or the removal of a list item. */
export type Fix =
  | { readonly change: 'value' | 'key'; readonly path: Path; readonly text: string }
  | { readonly change: 'remove'; readonly path: Path };

/** A request and the id of the route that it matches; `undefined` if it matches none. */
export interface RouteWitness {
  readonly method: string;
  readonly path: string;
  readonly route: string | undefined;
}

/** A range in a text. Lines and columns count from 1; columns are UTF-16 code units, as in editors. */
export interface Range {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  /** Exclusive. */
  readonly endColumn: number;
}

/** The result of a check or a rule, before it has a line and a column. */
export interface Finding {
  /** The kebab-case id of the check, stable across versions. */
  readonly rule: string;
  readonly severity: Severity;
  readonly location: FindingLocation;
  /** The error, then its fix: in lower case, without a full stop. */
  readonly message: string;
  /** The second location of a finding with two. */
  readonly related?: { readonly path: Path; readonly message: string; readonly file?: string };
  /** The place in a file that the manifest refers to, whose path is relative to the manifest. The location is the reference. */
  readonly inFile?: { readonly source: { readonly path: string; readonly text: string }; readonly range: Range };
  readonly witness?: RouteWitness;
  readonly fix?: Fix | undefined;
  /** True if the value at the location is a secret, which is never printed. */
  readonly isSecret?: boolean;
  /** True if the message quotes no part of a value, so that it may be printed for a value from the environment. */
  readonly isQuoteFree?: boolean;
}

export function errorAt(path: Path, rule: string, message: string): Finding {
  return { rule, severity: 'error', location: { path, at: 'value' }, message };
}

/** An error at a value that may come from the environment. The message must quote no part of the value. */
export function quoteFreeErrorAt(path: Path, rule: string, message: string): Finding {
  return { ...errorAt(path, rule, message), isQuoteFree: true };
}

export function errorAtKey(path: Path, rule: string, message: string): Finding {
  return { rule, severity: 'error', location: { path, at: 'key' }, message };
}
