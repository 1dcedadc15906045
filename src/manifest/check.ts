import type { ErrorObject, ValidateFunction } from 'ajv';
import { didYouMean } from '../problem/did-you-mean.ts';
import type { Finding } from '../problem/finding.ts';
import type { Manifest } from './manifest.generated.ts';
import { toSchemaFindings, type ValueQuoter, valueAt } from './schema-finding.ts';
import type { Substitution } from './substitute.ts';
import { validate as generated } from './validate.generated.ts';
import type { YamlValue } from './yaml-values.ts';

const validate = generated as unknown as ValidateFunction;

/**
 * Holds the substituted values to the JSON Schema and fills the defaults in. Every mistake is found, not the
 * first only; what has findings is a manifest in name only.
 */
export function check(substituted: Substitution): { manifest: Manifest; findings: Finding[] } {
  const { checked, findings } = checkAgainst<Manifest>(validate, substituted);
  return { manifest: checked, findings };
}

/** The same by the validator of another schema; its messages are made of the schema's own titles and examples. */
export function checkAgainst<Checked>(
  validate: ValidateFunction,
  { value, isSecret }: Pick<Substitution, 'value' | 'isSecret'>,
): { checked: Checked; findings: Finding[] } {
  // The validator writes the defaults into what it is given: it gets a copy of its own.
  const checked = structuredClone(value) as unknown as Checked;
  if (validate(checked)) return { checked, findings: [] };
  const errors = validate.errors ?? [];
  const quote: ValueQuoter = (path) => {
    const at = valueAt(value, path);
    return isSecret(path) ? 'the value from the environment' : displayValue(at);
  };
  return {
    checked,
    findings: withoutMisspeltKeys(withoutUnintendedBranches(errors))
      .flatMap((error) => toSchemaFindings(error, value, quote))
      .map((finding) => withoutFix(finding, isSecret)),
  };
}

/** A fix would write what the environment gave into the file. */
function withoutFix(finding: Finding, isSecret: Substitution['isSecret']): Finding {
  const { fix, ...rest } = finding;
  return fix !== undefined && isSecret(fix.path) ? rest : finding;
}

/**
 * Of an `anyOf` that failed, keeps the errors of the branch that was meant: the one whose type the value has, or
 * the list of words where a word was written. Without either, the `anyOf` speaks for all of its branches.
 */
function withoutUnintendedBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const [index, any] of errors.entries()) {
    if (any.keyword !== 'anyOf') continue;
    const isDeeper = (error: ErrorObject) => error.instancePath.startsWith(`${any.instancePath}/`);
    const isMeant = (error: ErrorObject) =>
      isDeeper(error) || (error.keyword === 'enum' ? typeof any.data === 'string' : error.keyword !== 'type');
    // The validator tells of the branches right before it tells of the `anyOf`.
    let first = index;
    const isBranch = (error: ErrorObject) => error.instancePath === any.instancePath || isDeeper(error);
    while (first > 0 && isBranch(errors[first - 1] as ErrorObject)) first -= 1;
    const branches = errors.slice(first, index);
    for (const error of branches) if (!isMeant(error)) dropped.add(error);
    if (branches.some(isMeant)) dropped.add(any);
  }
  return errors.filter((error) => !dropped.has(error));
}

/** A misspelt key is one mistake, not a key too many and another too few; an unknown one is not one too many besides. */
function withoutMisspeltKeys(errors: readonly ErrorObject[]): ErrorObject[] {
  const meant = new Set<string>();
  const strange = new Set<string>();
  for (const { keyword, instancePath, params, parentSchema } of errors) {
    if (keyword !== 'additionalProperties') continue;
    strange.add(instancePath);
    const near = didYouMean(params['additionalProperty'], Object.keys(parentSchema?.['properties'] ?? {}));
    if (near !== undefined) meant.add(`${instancePath}/${near}`);
  }
  return errors.filter(
    ({ keyword, instancePath, params }) =>
      !(keyword === 'required' && meant.has(`${instancePath}/${params['missingProperty']}`)) &&
      !(keyword === 'maxProperties' && strange.has(instancePath)),
  );
}

function displayValue(value: YamlValue): string {
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}
