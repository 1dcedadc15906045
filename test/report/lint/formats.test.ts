import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RULES } from '../../../src/check/lint/rule-table.ts';
import { LINT_FORMATS, type LintReport } from '../../../src/cli/lint/lint-formats.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { HOSTILE_FILE, HOSTILE_MESSAGE, problemOf, REPORTS, reportOf } from './support.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true });
addFormats.default(ajv);
const schemaIn = (path: string) => ajv.compile(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')));

/** Generates names and messages, mostly of characters that have a meaning in a format. */
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, minLength: 1 }),
  fc
    .array(
      fc.constantFrom(
        '%',
        '%0A',
        ':',
        '::',
        ',',
        '\r',
        '\n',
        '|',
        '\\',
        '`',
        '<',
        '>',
        '&',
        '"',
        ']]>',
        '[',
        '](',
        'é',
        'x',
        '\u0000',
        '\u001b',
        '\u009b',
        '\uFFFE',
        '\uD800',
        '/',
        '=',
        '😀',
      ),
      { minLength: 1 },
    )
    .map((parts) => parts.join('')),
);

const anyReport: fc.Arbitrary<LintReport> = fc
  .record({ file: anyText, message: anyText, word: anyText, text: anyText })
  .map(({ file, message, word, text }) => {
    const range = { line: 1, column: 1, endLine: 1, endColumn: 2 };
    return reportOf([problemOf(file, message), problemOf(file, message, { related: { range, message: word } })], {
      [file]: text,
    });
  });

const reports = Object.entries(REPORTS).map(([name, report]) => ({ name, report }));

function membersOf(schema: unknown): string[] {
  if (schema === null || typeof schema !== 'object') return [];
  const names = 'properties' in schema ? Object.keys(schema.properties as object) : [];
  return [...names, ...Object.values(schema).flatMap(membersOf)];
}

describe('json', () => {
  const isReport = schemaIn('../../../schema/lint-report.schema.json');

  it.each(reports)('matches its published schema: $name', ({ report }) => {
    expect(isReport(JSON.parse(LINT_FORMATS.json(report))), JSON.stringify(isReport.errors)).toBe(true);
  });

  it('writes every member of the schema and no other', () => {
    const output = reports.map(({ report }) => LINT_FORMATS.json(report)).join();
    const names = membersOf(isReport.schema);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !output.includes(`"${name}":`))).toEqual([]);
    const [problem] = JSON.parse(LINT_FORMATS.json(REPORTS['broken'] as LintReport)).problems;
    const clean = JSON.parse(LINT_FORMATS.json(REPORTS['clean'] as LintReport));
    expect([
      isReport({ ...clean, problems: [problem] }),
      isReport({ ...clean, problems: [{ ...problem, x: 1 }] }),
    ]).toEqual([true, false]);
  });

  it('preserves any file name and message', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const { files, problems } = JSON.parse(LINT_FORMATS.json(report));
        expect(files).toEqual(report.sources.map(({ path }) => path));
        expect(problems.map(({ message }: { message: string }) => message)).toEqual(
          report.problems.map(({ message }) => message),
        );
      }),
    );
  });
});

describe('sarif', () => {
  const isSarif = schemaIn('sarif.schema.json');

  it.each(reports)('matches the schema: $name', ({ report }) => {
    expect(isSarif(JSON.parse(LINT_FORMATS.sarif(report))), JSON.stringify(isSarif.errors)).toBe(true);
  });

  it('matches the schema and encodes the file name for any text', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const log = JSON.parse(LINT_FORMATS.sarif(report));
        const [file = ''] = report.sources.map(({ path }) => path);
        if (!file.startsWith('/')) expect(isSarif(log), JSON.stringify(isSarif.errors)).toBe(true);
        const { uri } = log.runs[0].results[0].locations[0].physicalLocation.artifactLocation;
        if (!file.startsWith('/')) expect(decodeURIComponent(uri)).toBe(file.toWellFormed());
      }),
    );
  });

  it('refers each result to its rule', () => {
    const [run] = JSON.parse(LINT_FORMATS.sarif(REPORTS['broken'] as LintReport)).runs;
    for (const { ruleId, ruleIndex } of run.results) expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId);
  });

  it('links each rule to its section of the documentation, or names the command that prints it', () => {
    const problems = RULES.map(({ id }) => problemOf('gateway.yaml', 'x', { rule: id }));
    const rules = new Map(RULES.map((rule) => [rule.id, rule]));
    const report = { ...reportOf(problems, { 'gateway.yaml': '' }), rules };
    const rulesOf = (docsUrl?: string): { id: string; helpUri?: string; help: { text: string; markdown: string } }[] =>
      JSON.parse(LINT_FORMATS.sarif({ ...report, docsUrl })).runs[0].tool.driver.rules;
    for (const { id, helpUri = '', help } of rulesOf('../../../docs')) {
      const [page = '', anchor] = helpUri.split('#');
      expect(readFileSync(new URL(page, import.meta.url), 'utf8')).toContain(`\n## ${anchor}\n`);
      expect([anchor, help.text.endsWith(` See ${helpUri}`), help.markdown.includes(`](${helpUri})`)]).toEqual([
        id,
        true,
        true,
      ]);
    }
    for (const { id, help, ...others } of rulesOf()) {
      expect(help.text.endsWith(` Run: signing-gateway lint --explain ${id}`)).toBe(true);
      expect(`${help.text}${help.markdown}${JSON.stringify(others)}`).not.toMatch(/https?:\/\/|helpUri|\]\(/);
    }
  });

  it('writes an absolute URI for a file outside the working folder', () => {
    const log = LINT_FORMATS.sarif(reportOf([problemOf('/etc/my gateway.yaml', 'x')], { '/etc/my gateway.yaml': '' }));
    const [{ physicalLocation }] = JSON.parse(log).runs[0].results[0].locations;
    expect(physicalLocation.artifactLocation).toEqual({ uri: 'file:///etc/my%20gateway.yaml' });
  });
});

describe('a fingerprint', () => {
  const fingerprintsOf = (text: string, line: number, indent: number) => {
    const range = { line, column: 9 + indent, endLine: line, endColumn: 13 + indent };
    const problems = [problemOf('gateway.yaml', 'm', { range }), problemOf('gateway.yaml', 'm', { range })];
    const report = reportOf(problems, { 'gateway.yaml': text });
    const [run] = JSON.parse(LINT_FORMATS.sarif(report)).runs;
    const sarif: string[] = run.results.map(
      (result: { partialFingerprints: Record<string, string> }) =>
        result.partialFingerprints['primaryLocationLineHash'],
    );
    const quality: string[] = JSON.parse(LINT_FORMATS.gitlab(report)).map(
      ({ fingerprint }: { fingerprint: string }) => fingerprint,
    );
    expect(quality).toEqual(sarif);
    return sarif;
  };
  const before = fingerprintsOf('  - id: here # note\n', 1, 0);

  it('is unique for each problem', () => expect(new Set(before).size).toBe(2));
  it('does not change if the line moves or its indentation changes', () =>
    expect(fingerprintsOf('\n\n#\n    -  id: here # note\n', 4, 3)).toEqual(before));
  it('changes with the text beside the reported value', () =>
    expect(fingerprintsOf('  - no: here # note\n', 1, 0)).not.toEqual(before));
  it('does not depend on the reported value itself', () =>
    expect(fingerprintsOf('  - id: s3cr # note\n', 1, 0)).toEqual(before));
});

describe('github', () => {
  /** Parses a line like the runner of GitHub Actions. */
  function read(line: string) {
    const [, command, properties = '', data = ''] = /^::(\w+) (.*?)::(.*)$/.exec(line) ?? [];
    const decode = (text: string) => text.replaceAll('%0D', '\r').replaceAll('%0A', '\n');
    const value = (text: string) => decode(text).replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%25', '%');
    const named = properties.split(',').map((property) => {
      const at = property.indexOf('=');
      return [property.slice(0, at), value(property.slice(at + 1))] as const;
    });
    return { command, properties: Object.fromEntries(named), data: decode(data).replaceAll('%25', '%') };
  }

  it('survives a round trip through the runner for any text', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const [first = '', second, ...more] = LINT_FORMATS.github(report).trimEnd().split('\n');
        expect([second?.startsWith('::error file='), more]).toEqual([true, []]);
        const { command, properties, data } = read(first);
        const plain = (text = '') =>
          text.toWellFormed().replaceAll(/(?![\r\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => '\uFFFD'.repeat(c.length));
        expect([command, data]).toEqual(['error', plain(report.problems[0]?.message)]);
        expect(properties).toEqual({
          file: plain(report.sources[0]?.path),
          line: '2',
          endLine: '2',
          col: '3',
          endColumn: '7',
          title: 'route-id',
        });
      }),
    );
  });
});

describe('junit', () => {
  const ENTITIES: Record<string, string> = {
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    '#9': '\t',
    '#10': '\n',
    '#13': '\r',
  };
  const decode = (text: string) => text.replaceAll(/&([^;]*);/g, (_all, name) => ENTITIES[name] ?? `?${name}?`);

  it('is well-formed for any text and omits only control characters', () => {
    const name = '[a-z][a-z-]*';
    const tag = `</?${name}(?: ${name}="[^<&"]*(?:&[^;&"]+;[^<&"]*)*")*/?>`;
    const document = new RegExp(`^<\\?xml version="1.0" encoding="UTF-8"\\?>\n(?:${tag}|[^<&>]|&[^;&<>]+;)*$`);
    fc.assert(
      fc.property(anyReport, (report) => {
        const text = LINT_FORMATS.junit(report);
        expect(text).toMatch(document);
        expect(text).not.toMatch(/[^\t\n\u0020-\u007E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u);
        const open: string[] = [];
        for (const [, slash, tagName = '', end] of text.matchAll(/<(\/?)([a-z-]+)[^>]*?(\/?)>/g))
          if (slash !== '') expect(open.pop()).toBe(tagName);
          else if (end === '') open.push(tagName);
        expect(open).toEqual([]);
        const [, message = ''] = /message="([^"]*)"/.exec(text) ?? [];
        const plain = (report.problems[0]?.message ?? '')
          .toWellFormed()
          .replaceAll(/[^\t\n\r\u0020-\u007E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '');
        expect(decode(message)).toBe(plain);
      }),
    );
  });

  it('names each case once, and with the same name after an edit above the problem', () => {
    const namesAt = (line: number) => {
      const range = { line, column: 1, endLine: line, endColumn: 2 };
      const problems = ['twice', 'once', 'twice', 'twice (2)'].map((message, index) =>
        problemOf('gateway.yaml', message, { range: { ...range, line: line + index, endLine: line + index } }),
      );
      const text = LINT_FORMATS.junit(reportOf(problems, { 'gateway.yaml': '' }));
      return [...text.matchAll(/<testcase name="([^"]*)"/g)].map(([, name]) => name);
    };
    expect(namesAt(1)).toEqual(['route-id: twice', 'route-id: once', 'route-id: twice (2)', 'route-id: twice (2) (2)']);
    expect(namesAt(7)).toEqual(namesAt(1));
  });

  it('marks only the problems that fail the run as failures', () => {
    const several = REPORTS['several'] as LintReport;
    const failures = (failOn: LintReport['failOn']) =>
      LINT_FORMATS.junit({ ...several, failOn }).match(/<failure /g)?.length;
    expect([failures('error'), failures('warning'), failures('info')]).toEqual([1, 2, 3]);
  });
});

describe('markdown', () => {
  it('is a table with four cells in each row for any text', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const lines = LINT_FORMATS.markdown(report).trimEnd().split('\n');
        expect(lines).toHaveLength(6);
        for (const line of lines.slice(2)) expect(line.split(/(?<!\\)(?:\\\\)*\|/)).toHaveLength(6);
      }),
    );
  });
});

describe('the output for terminals', () => {
  it.each(['pretty', 'stylish', 'github', 'markdown', 'junit'] as const)(
    'contains no control characters: %s',
    (format) => {
      const report = reportOf([problemOf(HOSTILE_FILE, `${HOSTILE_MESSAGE}\u009b31m`)], {
        [HOSTILE_FILE]: '\u001b[2J\n\u001b]0;x\u0007',
      });
      expect(LINT_FORMATS[format](report, false)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    },
  );
});
