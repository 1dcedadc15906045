import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MANIFEST_OPTIONS, parseSingleManifestArguments } from '../manifest-file.ts';
import { SCHEMA_FOLDER } from '../schema.ts';
import { CommandError, type Verb } from '../terminal.ts';
import { starterManifest, starterTestFile } from './starter-files.ts';

export const init: Verb = {
  usage: 'signing-gateway init [FILE]',
  options: MANIFEST_OPTIONS,
  examples: ['signing-gateway init', 'signing-gateway init deploy/gateway.yaml'],
  async run({ args, out, err }) {
    const { file } = parseSingleManifestArguments(args, {});
    const tests = join(dirname(file), `${basename(file, extname(file))}.test.yaml`);
    for (const path of [file, tests])
      if (existsSync(path)) throw new CommandError(`${path} already exists; name another file, or remove this one`);
    writeNew(file, starterManifest(schemaPathFrom(file, 'gateway.schema.json')));
    writeNew(tests, starterTestFile(schemaPathFrom(file, 'gateway-test.schema.json'), basename(file)));
    out(`${file}\n${tests}\n`);
    err(`Next: run "signing-gateway lint ${file}" and "signing-gateway test ${tests}"\n`);
    return 0;
  },
};

/** Returns the relative path to a schema, for editors that open a file in the same folder. */
function schemaPathFrom(file: string, schema: string): string {
  const path = relative(resolve(dirname(file)), fileURLToPath(new URL(schema, SCHEMA_FOLDER))).replaceAll(sep, '/');
  return path.startsWith('.') ? path : `./${path}`;
}

/** Writes a new file. Fails if the file exists by now. */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw new CommandError(`cannot write ${path}: ${(error as Error).message}`);
  }
}
