/**
 * Writes `dist/sbom.cdx.json`, the bill of materials of the package (CycloneDX).
 *
 *     npm run sbom
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devDependencies?: object }>>;
}

/**
 * Returns the bill of materials that npm makes of the production packages. With `--omit dev` alone, npm leaves out packages
 * that development packages need too, so it gets a project without those.
 */
function createSbom(): string {
  const { devDependencies: _dev, ...project } = readJson('package.json') as { name: string; devDependencies: object };
  const lock = readJson('package-lock.json') as Lock;
  const { devDependencies: _devOfRoot, ...rootPackage } = lock.packages[''] ?? {};
  const production = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const folder = mkdtempSync(join(tmpdir(), 'sbom-'));
  try {
    const packages = Object.fromEntries([['', rootPackage], ...production]);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
    const text = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const { serialNumber: _serial, metadata, ...others } = JSON.parse(text);
    const { timestamp: _time, ...lasting } = metadata;
    // npm writes the name of the folder. The time and the random number would make each package different.
    const component = { ...lasting.component, name: project.name };
    return `${JSON.stringify({ ...others, metadata: { ...lasting, component } }, null, 2)}\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
}

mkdirSync(join(ROOT, 'dist'), { recursive: true });
writeFileSync(join(ROOT, 'dist/sbom.cdx.json'), createSbom());
