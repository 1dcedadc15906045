import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import {
  DefaultReporter,
  type TestCase,
  type TestModule,
  type TestModuleState,
  type TestRunEndReason,
} from 'vitest/node';

export interface Failure {
  readonly file: string;
  readonly test: string;
  readonly message: string;
}

/** The results of one run of Vitest. */
export interface Results {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

/**
 * Prints a line for each file and the tests that failed, and at the end a list of them. Writes the results to the file that
 * `TEST_RESULTS` names, for `scripts/check-tests.ts`.
 */
export default class LineReporter extends DefaultReporter {
  protected override printTestCase(state: TestModuleState, test: TestCase): void {
    if (test.result().state === 'failed') super.printTestCase(state, test);
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(modules, errors, reason);
    const results = resultsOf(modules, errors);
    for (const { file, test, message } of results.failures) this.log(`failed: ${file}: ${test}: ${firstLine(message)}`);
    const path = process.env['TEST_RESULTS'];
    if (path !== undefined) writeFileSync(path, JSON.stringify(results));
  }
}

function resultsOf(modules: readonly TestModule[], errors: readonly SerializedError[]): Results {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const failures = modules.flatMap((module) => {
    const file = module.relativeModuleId;
    const suites = [module, ...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
    return [
      ...suites.map((suite) => ({ file, test: 'the file or a hook', message: textOf(suite.errors()) })),
      ...[...module.children.allTests('failed')].map((test) => ({
        file,
        test: test.fullName,
        message: textOf(test.result().errors ?? []),
      })),
    ];
  });
  const others = errors.map((error) => ({ file: '', test: 'an error outside of the tests', message: textOf([error]) }));
  return { passed: count('passed'), skipped: count('skipped'), failures: [...failures, ...others] };
}

function textOf(errors: readonly Pick<SerializedError, 'message'>[]): string {
  return errors.map(({ message }) => message).join('\n');
}

function firstLine(text: string): string {
  return text.split('\n')[0]?.slice(0, 200) ?? '';
}
