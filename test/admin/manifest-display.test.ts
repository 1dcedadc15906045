import { describe, expect, it } from 'vitest';
import type { AdminContext, AdminRequest, AdminResources } from '../../src/admin/admin-endpoint.ts';
import { manifest } from '../../src/admin/endpoints/manifest.ts';
import { createFileDisplays, linesOfRoute, ManifestDisplays } from '../../src/admin/manifest-display.ts';
import type { Source } from '../../src/engine/manifest/source.ts';
import type { Problem } from '../../src/engine/problem/problem.ts';

const SECRET = 'sentinel-7f3a9c21';

const textsOf = (...texts: string[]): Source[] => texts.map((text, index) => ({ path: `${index}.yaml`, text }));
const routeOf = (sources: readonly Source[], index: number) =>
  linesOfRoute(sources, createFileDisplays(sources, []), index);

describe('the lines of a route', () => {
  it('end with the last value, whatever its form', () => {
    const values = [
      'a',
      "'a'",
      '|\n      a\n      b',
      '>-\n      a',
      '[\n      a,\n    ]',
      '{ b: 1 }',
      '\n    - a',
      '&x a',
    ];
    for (const value of values)
      for (const lineBreak of ['\n', '\r\n'])
        for (const between of ['', '\n', '  # The next route.\n', '\n\n    # Indented.\n']) {
          const own = `  - id: one\n    last: ${value}`;
          const text = `version: 1\nroutes:\n${own}\n${between}  - id: two\n`.replaceAll('\n', lineBreak);
          expect(routeOf(textsOf(text), 0)).toEqual({ file: '0.yaml', line: 3, text: own });
          expect(routeOf(textsOf(text), 1).text).toBe('  - id: two');
        }
  });

  it('are those of the file that has the route', () => {
    const sources = textsOf(
      'routes: [{ id: a }]\n',
      'upstreams: {}\n',
      '\uFEFFroutes:\n  - id: b\n  - id: c',
      'routes: []',
    );
    expect([0, 1, 2].map((index) => routeOf(sources, index))).toEqual([
      { file: '0.yaml', line: 1, text: 'routes: [{ id: a }]' },
      { file: '2.yaml', line: 2, text: '  - id: b' },
      { file: '2.yaml', line: 3, text: '  - id: c' },
    ]);
    expect(() => routeOf(sources, 3)).toThrow(RangeError);
  });

  it('are the value alone in a long line, and have no secret', () => {
    const all = Array.from({ length: 5_000 }, (_, index) => ({ id: `r${index}`, set: { 'X-Token': SECRET } }));
    const { line, text } = routeOf(textsOf(JSON.stringify({ version: 1, routes: all })), 4_000);
    expect([line, text]).toEqual([
      1,
      JSON.stringify(all[4_000]).replace(`"${SECRET}"`, `"${'•'.repeat(SECRET.length)}"`),
    ]);
  });

  it('are cut', () => {
    const text = `routes:\n  - id: one\n    list:\n${'      - a\n'.repeat(1_000)}`;
    expect(routeOf(textsOf(text), 0).text.split('\n')).toHaveLength(500);
    expect(routeOf(textsOf(`routes: [{ id: ${'a'.repeat(100_000)} }]`), 0).text).toHaveLength(32_768);
  });
});

describe('the display of a manifest', () => {
  /** Returns the response as its chunks. */
  async function read(sources: readonly Source[], problems: readonly Problem[] = []): Promise<string[]> {
    const context = { activeManifest: () => ({ sources, problems }), reloader: {} } as unknown as AdminContext;
    const resources = { displays: new ManifestDisplays() } as unknown as AdminResources;
    return [...((await manifest({} as AdminRequest, context, resources)).body as Generator<string>)];
  }

  it('is written in small parts, of one long line too', async () => {
    const long = JSON.stringify(Array.from({ length: 2_000 }, () => ({ 'X-Token': SECRET, name: '"😀\\' })));
    const chunks = await read(textsOf(`a: 1\r\n`.repeat(2_500), long));
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(20_000);
    expect(JSON.parse(chunks.join(''))).toEqual({
      state: 'active',
      problems: [],
      problem_count: 0,
      files: [
        { file: '0.yaml', text: Array(2_000).fill('a: 1').join('\n'), omitted_lines: 501 },
        { file: '1.yaml', text: long.replaceAll(SECRET, '•'.repeat(SECRET.length)), omitted_lines: 0 },
      ],
    });
  });

  it('has no text of a problem that is secret', async () => {
    const range = { line: 2, column: 4, endLine: 3, endColumn: 4 };
    const problem = { file: '0.yaml', range, severity: 'error', rule: 'admin', message: 'm', isSecret: true } as const;
    const chunks = await read(textsOf('\uFEFFa: 1\nb: abc\nc: d\ne: f\n'), [problem as unknown as Problem]);
    expect(JSON.parse(chunks.join('')).files[0].text).toBe('\uFEFFa: 1\nb: •••\n•••d\ne: f\n');
  });

  it('is created once for each manifest, and again after an error', async () => {
    const displays = new ManifestDisplays();
    const displayed = { sources: textsOf('a: 1'), problems: [] };
    expect(displays.of(displayed)).toBe(displays.of(displayed));
    expect(await displays.of(displayed)).toHaveLength(1);
    // A function cannot be sent to a thread.
    const invalid = { sources: [{ path: 'a', text: (() => '') as unknown as string }], problems: [] };
    const first = displays.of(invalid);
    await expect(first).rejects.toThrow('could not be cloned');
    expect(displays.of(invalid)).not.toBe(first);
    await expect(displays.of(invalid)).rejects.toThrow('could not be cloned');
    expect(await displays.of({ sources: textsOf('b: 1', 'c: 1'), problems: [] })).toHaveLength(2);
  });
});
