import type { ErrorObject, ValidateFunction } from 'ajv';
import { valueAt } from '../json-pointer.ts';
import { didYouMean } from '../problem/did-you-mean.ts';
import type { Finding } from '../problem/finding.ts';
import { copyManifest } from './copy-manifest.ts';
import type { Manifest } from './manifest.generated.ts';
import { toSchemaFindings, type ValueQuoter } from './schema-finding.ts';
import type { Substitution } from './substitute.ts';
import { validate as generated } from './validate.generated.ts';
import type { YamlValue } from './yaml-values.ts';

const validate = generated as unknown as ValidateFunction;

/** Validates the substituted values against the JSON Schema and fills in defaults. With findings, the manifest is not valid. */
export function check(substituted: Substitution): { manifest: Manifest; findings: Finding[] } {
  const { checked, findings } = checkAgainst<Manifest>(validate, substituted, copyManifest);
  return { manifest: checked, findings };
}

/**
 * Validates values against another schema. Messages use the titles and examples of the schema.
 *
 * @param copy copies all parts of the values into which the validator writes defaults
 */
export function checkAgainst<Value>(
  validate: ValidateFunction,
  { value, isSecret }: Pick<Substitution, 'value' | 'isSecret'>,
  copy: (value: YamlValue) => YamlValue = structuredClone,
): { checked: Value; findings: Finding[] } {
  const checked = copy(value) as unknown as Value;
  if (validate(checked)) return { checked, findings: [] };
  const errors = validate.errors ?? [];
  const quote: ValueQuoter = (path) =>
    isSecret(path)
      ? 'the value from the environment'
      : displayValue(valueAt(value, path) as YamlValue, path.length === 0);
  return {
    checked,
    findings: withoutMisspeltKeys(withoutRangesOfFractions(withoutUnintendedBranches(errors)))
      .flatMap((error) => toSchemaFindings(error, value, quote, isSecret))
      .map((finding) => withoutFix(finding, isSecret)),
  };
}

/** Removes a fix that would write a value from the environment into the file. */
function withoutFix(finding: Finding, isSecret: Substitution['isSecret']): Finding {
  const { fix, ...rest } = finding;
  return fix !== undefined && isSecret(fix.path) ? rest : finding;
}

/**
 * Keeps the errors of the intended branch of each failed `anyOf`: the branch with the type of the value, or the enum for a
 * string. Without such a branch, keeps the error of the `anyOf` itself.
 */
function withoutUnintendedBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const [index, any] of errors.entries()) {
    if (any.keyword !== 'anyOf') continue;
    const isDeeper = (error: ErrorObject) => error.instancePath.startsWith(`${any.instancePath}/`);
    const isIntended = (error: ErrorObject) =>
      isDeeper(error) || (error.keyword === 'enum' ? typeof any.data === 'string' : error.keyword !== 'type');
    // The validator reports the branches right before the `anyOf`.
    let first = index;
    const isBranch = (error: ErrorObject) => error.instancePath === any.instancePath || isDeeper(error);
    while (first > 0 && isBranch(errors[first - 1] as ErrorObject)) first -= 1;
    const branches = errors.slice(first, index);
    for (const error of branches) if (!isIntended(error)) dropped.add(error);
    if (branches.some(isIntended)) dropped.add(any);
  }
  return errors.filter((error) => !dropped.has(error));
}

/** Reports a fraction once where a whole number is required: not also as out of range. */
function withoutRangesOfFractions(errors: readonly ErrorObject[]): ErrorObject[] {
  const fractions = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  const isRange = ({ keyword }: ErrorObject) => keyword === 'minimum' || keyword === 'maximum';
  return errors.filter((error) => !isRange(error) || !fractions.has(error.instancePath));
}

/** Reports a misspelt key once: not also as a missing key, or as one key too many. */
function withoutMisspeltKeys(errors: readonly ErrorObject[]): ErrorObject[] {
  const intended = new Set<string>();
  const withUnknownKeys = new Set<string>();
  for (const { keyword, instancePath, params, parentSchema } of errors) {
    if (keyword !== 'additionalProperties') continue;
    withUnknownKeys.add(instancePath);
    const near = didYouMean(params['additionalProperty'], Object.keys(parentSchema?.['properties'] ?? {}));
    if (near !== undefined) intended.add(`${instancePath}/${near}`);
  }
  return errors.filter(
    ({ keyword, instancePath, params }) =>
      !(keyword === 'required' && intended.has(`${instancePath}/${params['missingProperty']}`)) &&
      !(keyword === 'maxProperties' && withUnknownKeys.has(instancePath)),
  );
}

function displayValue(value: YamlValue, isRoot: boolean): string {
  if (value === null) return isRoot ? 'an empty file' : 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}
