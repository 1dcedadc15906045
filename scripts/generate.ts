/**
 * Completes the schemas of the manifest and of test files for editors, and generates code from them: types, and validators that
 * are compiled ahead of time (compiling at startup takes 75 times as long as loading). `npm run generate` runs this file. A test
 * fails if the generated files in the repository are out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { compile } from 'json-schema-to-typescript';
import { addEditorKeywords, toValidationSchema } from './editor-keywords.ts';

interface GeneratedLanguage {
  /** A file of the folder `schema`. */
  readonly schema: string;
  /** The name of the type of a complete file. */
  readonly type: string;
  readonly types: string;
  readonly validator: string;
}

const LANGUAGES: readonly GeneratedLanguage[] = [
  {
    schema: 'gateway.schema.json',
    type: 'Manifest',
    types: '../src/engine/manifest/manifest.generated.ts',
    validator: '../src/engine/manifest/validate.generated.ts',
  },
  {
    schema: 'gateway-test.schema.json',
    type: 'TestFile',
    types: '../src/prove/testing/test-file.generated.ts',
    validator: '../src/prove/testing/validate.generated.ts',
  },
];

/** Returns the texts of the generated files by their paths relative to this file. */
export async function generate(): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const { schema, type, ...names } of LANGUAGES) {
    const path = `../schema/${schema}`;
    files[path] = addEditorKeywords(readFileSync(new URL(path, import.meta.url), 'utf8'));
    const text = JSON.stringify(toValidationSchema(JSON.parse(files[path])));
    const banner = `// Made from schema/${schema} by \`npm run generate\`. Do not edit.\n`;
    files[names.types] = banner + (await generateTypes(text, type));
    files[names.validator] = banner + generateValidator(text);
  }
  return files;
}

async function generateTypes(text: string, type: string): Promise<string> {
  return compile(JSON.parse(text, toTypeSchema), type, {
    bannerComment: '',
    additionalProperties: false,
    strictIndexSignatures: false,
    ignoreMinAndMaxItems: true,
    format: false,
  });
}

/** Converts the schema to that of a checked manifest, in which every member with a default is present. */
function toTypeSchema(key: string, value: unknown): unknown {
  // Titles are nouns for messages ("a duration"), not names of types; examples hold `$ref`s of another document. Nothing reads the
  // keys of a pattern.
  if (['title', 'examples', '$id', 'patternProperties', 'minItems', 'maxItems'].includes(key)) return undefined;
  // The schema alone has the descriptions.
  if (key === 'description' && typeof value === 'string') return undefined;
  if (key === 'JsonSchema') return { tsType: 'boolean | Readonly<Record<string, unknown>>' };
  // A map of properties may itself have a property named "properties".
  if (key === 'properties') return value;
  if (value === null || typeof value !== 'object' || !('properties' in value)) return value;
  const required = 'required' in value ? (value.required as string[]) : [];
  const defaulted = Object.entries(value.properties as Record<string, object>).filter(
    ([, member]) => 'default' in member,
  );
  return { ...value, required: [...required, ...defaulted.map(([name]) => name)] };
}

function generateValidator(text: string): string {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    allowUnionTypes: true,
    code: { source: true, esm: true },
  });
  // No message needs the descriptions, and a gateway keeps the validator in memory.
  const schema = JSON.parse(text, (key, value) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  );
  return `${toModule(ajv, ajv.compile(schema))}export const keys = ${JSON.stringify(Object.keys(schema.properties))};\n`;
}

function toModule(ajv: Ajv2020, validate: ValidateFunction): string {
  // This CommonJS module has no named exports that an ES module could import.
  const standalone = createRequire(import.meta.url)('ajv/dist/standalone').default;
  const code: string = standalone(ajv, validate);
  const header = [
    '// @ts-nocheck',
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
    // Copies of the list for each invalid item would take quadratic time.
    'const append = (errors, more) => { for (const error of more) errors.push(error); return errors; };',
  ];
  const used = code
    .replaceAll(/schemaPath:"[^"]*",/g, '')
    .replaceAll(/vErrors\.concat\((\w+\.errors)\)/g, 'append(vErrors, $1)');
  return `${header.join('\n')}\n${used}\n`;
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await generate())) {
    writeFileSync(new URL(name, import.meta.url), text);
    process.stdout.write(`${name}: ${text.length} characters\n`);
  }
}
