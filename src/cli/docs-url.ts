/** The build replaces this name with the value of its variable of the same name (scripts/build.ts). */
declare const DOCS_URL: string | undefined;

/** The address at which the folder `docs` is published. Undefined unless the build named one: the package has the pages itself. */
export const docsUrl = typeof DOCS_URL === 'string' ? DOCS_URL : undefined;
