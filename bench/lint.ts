/**
 * Measures `lint` as a process, from its start to its exit, from `dist` and from the sources.
 *
 *     npm run build && npm run bench:lint
 *     npm run bench:lint -- --rounds 3 --routes 200 --schemas none,distinct
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BodySchemas, manifestText } from './manifest.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    routes: { type: 'string', default: '200,10000' },
    schemas: { type: 'string', default: 'none,shared,distinct' },
  },
});

/** Makes the process print its CPU time in microseconds as the last line of standard error. */
const CPU_TIME_PRINTER =
  'data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();process.stderr.write("\\n"+(user+system))})';

const folder = mkdtempSync(join(tmpdir(), 'lint-'));
const entries = ['dist/cli/main.js', 'src/cli/main.ts'].filter((entry) => existsSync(pathOf(entry)));

print(`${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}, ${values.rounds} rounds\n\n`);
print('| routes | body schemas | from | start | wall ms, min | wall ms, median | CPU ms, median |\n');
print('|---|---|---|---|---|---|---|\n');
for (const count of values.routes.split(',').map(Number))
  for (const bodySchemas of values.schemas.split(',') as BodySchemas[]) {
    const manifest = join(folder, `${count}-${bodySchemas}.yaml`);
    const jwks = 'http://127.0.0.1:7001/keys';
    writeFileSync(
      manifest,
      manifestText({ port: 8080, upstream: 'http://127.0.0.1:7001', jwks, routes: count, bodySchemas }),
    );
    for (const entry of entries) {
      // The first start compiles the code and caches it for later starts.
      row([count, bodySchemas, entry, 'first'], () => run(entry, manifest, mkdtempSync(join(folder, 'cache-'))));
      const cache = mkdtempSync(join(folder, 'cache-'));
      run(entry, manifest, cache);
      row([count, bodySchemas, entry, 'later'], () => run(entry, manifest, cache));
    }
  }
rmSync(folder, { recursive: true });

interface Cost {
  readonly wallMs: number;
  readonly processorMs: number;
}

function row(names: readonly (string | number)[], measure: () => Cost): void {
  const costs = Array.from({ length: Number(values.rounds) }, measure);
  const walls = costs.map(({ wallMs }) => wallMs).sort((a, b) => a - b);
  const processor = costs.map(({ processorMs }) => processorMs).sort((a, b) => a - b);
  const figures = [walls[0], median(walls), median(processor)].map((ms) => ms?.toFixed(0));
  print(`| ${[...names, ...figures].join(' | ')} |\n`);
}

function run(entry: string, manifest: string, cache: string): Cost {
  const start = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', CPU_TIME_PRINTER, pathOf(entry), 'lint', manifest],
    {
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
      encoding: 'utf8',
      maxBuffer: 100 * 1024 * 1024,
    },
  );
  const wallMs = performance.now() - start;
  if (status !== 0) throw new Error(`lint exited with ${status}: ${stderr}`);
  return { wallMs, processorMs: Number(stderr.split('\n').at(-1)) / 1000 };
}

function median(sorted: readonly number[]): number | undefined {
  return sorted[Math.floor(sorted.length / 2)];
}

function pathOf(entry: string): string {
  return fileURLToPath(new URL(`../${entry}`, import.meta.url));
}

function print(text: string): void {
  process.stdout.write(text);
}
