import { readFileSync } from 'node:fs';

const file = new URL('../../package.json', import.meta.url);

/** The package's version and the address of its documentation. */
export const { version, homepage }: { version: string; homepage: string } = JSON.parse(readFileSync(file, 'utf8'));
