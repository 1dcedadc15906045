/**
 * Writes what is made from `schema/gateway.schema.json`: the manifest's types, and its validator compiled
 * ahead of time (compiling at start costs 75 times what loading does). Run by `npm run generate`; a test
 * fails when the files that are checked in are not what this makes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compile } from 'json-schema-to-typescript';

const SCHEMA = new URL('../../schema/gateway.schema.json', import.meta.url);
const BANNER = '// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.\n';

/** The generated files, by their names beside this one. */
export async function generate(): Promise<Record<string, string>> {
  const text = readFileSync(SCHEMA, 'utf8');
  return {
    'manifest.generated.ts': BANNER + (await types(text)),
    'validate.generated.ts': BANNER + validator(text),
  };
}

async function types(text: string): Promise<string> {
  return compile(JSON.parse(text, forTypes), 'Manifest', {
    bannerComment: '',
    additionalProperties: false,
    strictIndexSignatures: false,
    ignoreMinAndMaxItems: true,
    format: false,
  });
}

/** The schema of a manifest that was checked: what has a default is always there. */
function forTypes(key: string, value: unknown): unknown {
  // Titles are nouns for messages ("a duration"), not names of types; examples hold `$ref`s of another document.
  if (key === 'title' || key === 'examples' || key === '$id') return undefined;
  if (key === 'JsonSchema') return { tsType: 'boolean | Readonly<Record<string, unknown>>' };
  // A map of keys may have one that is itself named "properties".
  if (key === 'properties') return value;
  if (value === null || typeof value !== 'object' || !('properties' in value)) return value;
  const required = 'required' in value ? (value.required as string[]) : [];
  const defaulted = Object.entries(value.properties as Record<string, object>).filter(
    ([, member]) => 'default' in member,
  );
  return { ...value, required: [...required, ...defaulted.map(([name]) => name)] };
}

function validator(text: string): string {
  // CommonJS without named exports for an ES module to find.
  const standalone = createRequire(import.meta.url)('ajv/dist/standalone').default;
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    allowUnionTypes: true,
    code: { source: true, esm: true },
  });
  const code: string = standalone(ajv, ajv.compile(JSON.parse(text)));
  const header = [
    '// @ts-nocheck',
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
  ];
  return `${header.join('\n')}\n${code}\n`;
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await generate())) {
    writeFileSync(new URL(name, import.meta.url), text);
    process.stdout.write(`${name}: ${text.length} characters\n`);
  }
}
