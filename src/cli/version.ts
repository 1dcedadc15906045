import { readFileSync } from 'node:fs';

const file = new URL('../../package.json', import.meta.url);

/** The package's version. */
export const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
