import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../support/pause.ts';
import { routesOf, type Site } from './site.ts';

/** A way of changing files. At the end of each change, the new version must be active. */
export interface Scenario {
  readonly name: string;
  /** Creates the files of the first version before the gateway starts. Default: writes one file in place. */
  readonly begin?: (site: Site, version: number) => void;
  /** Changes the files to a version. */
  readonly change: (site: Site, version: number) => void | Promise<void>;
  /** Cleans up what removing the folder does not. */
  readonly end?: (site: Site) => void;
  /** Returns false if the machine does not support the scenario. */
  readonly isPossible?: () => boolean;
}

const MAIN = 'gateway.yaml';

export const SCENARIOS: readonly Scenario[] = [
  { name: 'written in place', change: (site, version) => site.write(MAIN, site.text(version)) },
  { name: 'written in place in 10 chunks, 20 ms apart', change: inChunks },
  {
    name: 'truncated, then appended line by line',
    async change(site, version) {
      truncateSync(site.file(MAIN));
      for (const line of site.text(version).split(/(?<=\n)/)) {
        appendFileSync(site.file(MAIN), line);
        await pause(1);
      }
    },
  },
  { name: 'renamed into place', change: (site, version) => site.replace(MAIN, site.text(version)) },
  {
    name: 'vim: renames the old file to a backup and writes a new one',
    change(site, version) {
      renameSync(site.file(MAIN), site.file(`${MAIN}~`));
      site.write(MAIN, site.text(version));
      unlinkSync(site.file(`${MAIN}~`));
    },
  },
  {
    name: 'vim: creates a swap file and a probe, and writes in place',
    change(site, version) {
      site.write(`.${MAIN}.swp`, 'swap');
      site.write('4913', '');
      unlinkSync(site.file('4913'));
      site.write(MAIN, site.text(version));
      unlinkSync(site.file(`.${MAIN}.swp`));
    },
  },
  {
    name: 'Emacs: creates a lock and a backup, and writes in place',
    change(site, version) {
      symlinkSync('user@host.1:2', site.file(`.#${MAIN}`));
      site.write(`${MAIN}~`, readFileSync(site.file(MAIN), 'utf8'));
      site.write(MAIN, site.text(version));
      unlinkSync(site.file(`.#${MAIN}`));
    },
  },
  {
    name: 'deleted and created',
    change(site, version) {
      unlinkSync(site.file(MAIN));
      site.write(MAIN, site.text(version));
    },
  },
  {
    name: 'missing for a while',
    async change(site, version) {
      await site.expectReload('unreadable', () => unlinkSync(site.file(MAIN)));
      site.write(MAIN, site.text(version));
    },
  },
  { name: 'empty for a while', change: invalidFirst(() => '') },
  { name: 'truncated for a while', change: invalidFirst((text) => `${text.slice(0, text.length / 2)}{`) },
  { name: 'invalid for a while', change: invalidFirst((text) => text.replace('public', 'publik')) },
  { name: 'binary for a while', change: invalidFirst(() => '\0\x01\x02\xff') },
  {
    name: 'a symbolic link to another file, replaced',
    begin: (site, version) => {
      site.write(`v${version}.yaml`, site.text(version));
      symlinkSync(`v${version}.yaml`, site.file(MAIN));
    },
    change(site, version) {
      site.write(`v${version}.yaml`, site.text(version));
      swapLink(site, MAIN, `v${version}.yaml`);
    },
  },
  {
    name: 'a symbolic link, deleted and created again',
    change(site, version) {
      site.write(`v${version}.yaml`, site.text(version));
      unlinkSync(site.file(MAIN));
      symlinkSync(`v${version}.yaml`, site.file(MAIN));
    },
  },
  { name: 'Kubernetes: ..data replaced', begin: beginConfigMap(mainOnly), change: swapConfigMap(mainOnly) },
  {
    name: 'Kubernetes: ..data replaced, with included files',
    begin: beginConfigMap(withIncludes),
    change: swapConfigMap(withIncludes),
  },
  {
    name: 'a symbolic link to a folder, replaced',
    begin(site, version) {
      site.write(`release-${version}/${MAIN}`, site.text(version));
      symlinkSync(`release-${version}`, site.file('current'));
      site.path = site.file(`current/${MAIN}`);
    },
    change(site, version) {
      site.write(`release-${version}/${MAIN}`, site.text(version));
      swapLink(site, 'current', `release-${version}`);
    },
  },
  { name: 'with a byte order mark', change: (site, version) => site.write(MAIN, `\uFEFF${site.text(version)}`) },
  {
    name: 'with CRLF line endings',
    change: (site, version) => site.write(MAIN, site.text(version).replaceAll('\n', '\r\n')),
  },
  {
    name: 'with the same modification time and size',
    change(site, version) {
      const { atime, mtime } = statSync(site.file(MAIN));
      site.write(`${MAIN}.new`, site.text(version));
      utimesSync(site.file(`${MAIN}.new`), atime, mtime);
      renameSync(site.file(`${MAIN}.new`), site.file(MAIN));
    },
  },
  {
    name: 'with the same content, then with other content',
    async change(site, version) {
      site.write(MAIN, readFileSync(site.file(MAIN), 'utf8'));
      await pause(80);
      site.write(MAIN, site.text(version));
    },
  },
  {
    name: 'unreadable, then readable',
    async change(site, version) {
      await site.expectReload('unreadable', () => {
        unlinkSync(site.file(MAIN));
        // A link to itself cannot be read, even by root.
        symlinkSync(MAIN, site.file(MAIN));
      });
      unlinkSync(site.file(MAIN));
      site.write(MAIN, site.text(version));
    },
  },
  {
    name: 'replaced by a folder for a while',
    async change(site, version) {
      await site.expectReload('unreadable', () => {
        unlinkSync(site.file(MAIN));
        mkdirSync(site.file(MAIN));
      });
      rmdirSync(site.file(MAIN));
      site.write(MAIN, site.text(version));
    },
  },
  {
    name: 'saved invalid, then valid, without a pause',
    change(site, version) {
      site.write(MAIN, 'version: [');
      site.write(MAIN, site.text(version));
    },
  },
  {
    name: 'saved 20 times without a pause',
    async change(site, version) {
      for (let save = 0; save < 20; save += 1) {
        site.replace(MAIN, save % 2 === 0 ? site.text(version - 1) : 'version: [');
        if (save % 5 === 0) await pause(1);
      }
      site.replace(MAIN, site.text(version));
    },
  },
  {
    name: 'replaced by a hard link',
    change(site, version) {
      site.write('other.yaml', site.text(version));
      rmSync(site.file(MAIN));
      linkSync(site.file('other.yaml'), site.file(MAIN));
      unlinkSync(site.file('other.yaml'));
    },
  },
  {
    name: 'three files of one version, each renamed into place',
    begin: (site, version) => writeAll(site, withIncludes(site, version)),
    change: (site, version) => replaceAll(site, withIncludes(site, version)),
  },
  {
    name: 'all files missing for a while',
    begin: (site, version) => writeAll(site, withIncludes(site, version)),
    async change(site, version) {
      await site.expectReload('unreadable', () => {
        rmSync(site.file(MAIN));
        rmSync(site.file('routes'), { recursive: true });
      });
      writeAll(site, withIncludes(site, version));
    },
  },
  {
    name: 'an included file is invalid for a while',
    begin: (site, version) => writeAll(site, withIncludes(site, version)),
    async change(site, version) {
      await site.expectReload('rejected', () => site.write('routes/b.yaml', 'routes: ['));
      replaceAll(site, withIncludes(site, version));
    },
  },
  {
    name: 'an included file is missing for a while, which a pattern would ignore',
    begin: (site, version) => writeAll(site, withIncludes(site, version, 'include: [routes/*.yaml, routes/b.yaml]\n')),
    async change(site, version) {
      await site.expectReload('rejected', () => unlinkSync(site.file('routes/b.yaml')));
      replaceAll(site, withIncludes(site, version, 'include: [routes/*.yaml, routes/b.yaml]\n'));
    },
  },
  {
    name: 'an included file gets another name',
    begin: (site, version) => writeAll(site, withIncludes(site, version)),
    change(site, version) {
      // One rename removes a name and adds another one.
      const last = nameOfLast(site);
      site.write('.next', routesText(version, 'last'));
      renameSync(site.file(last), site.file(`routes/z${version}.yaml`));
      renameSync(site.file('.next'), site.file(`routes/z${version}.yaml`));
      replaceAll(site, {
        [MAIN]: site.head('include: routes/*.yaml\n'),
        'routes/a.yaml': routesText(version, 'first'),
      });
    },
  },
  {
    name: 'with a failing self-test for a while',
    begin: (site, version) => writeAll(site, withSelfTest(site, version)),
    async change(site, version) {
      const files = withSelfTest(site, version);
      await site.expectReload('rejected', () => site.replace(MAIN, files[MAIN] ?? ''));
      writeAll(site, files);
    },
  },
  {
    name: 'behind a link into another folder, renamed into place there',
    begin: beginElsewhere,
    change: (site, version) => site.replace('elsewhere/real.yaml', site.text(version)),
  },
  {
    name: 'behind a link into another folder, reloaded on request',
    begin: beginElsewhere,
    async change(site, version) {
      site.replace('elsewhere/real.yaml', site.text(version));
      await site.serving?.reload();
    },
  },
  {
    name: 'a bind mount of one file, mounted again',
    begin(site, version) {
      site.write('source.yaml', site.text(version));
      site.write(MAIN, '');
      mount(site.file('source.yaml'), site.file(MAIN));
    },
    change(site, version) {
      site.write('source.yaml.next', site.text(version));
      mount(site.file('source.yaml.next'), site.file(MAIN));
      renameSync(site.file('source.yaml.next'), site.file(`source-${version}.yaml`));
    },
    end(site) {
      while (spawnSync('umount', [site.file(MAIN)]).status === 0);
    },
    isPossible: canMount,
  },
];

type Files = Readonly<Record<string, string>>;

async function inChunks(site: Site, version: number): Promise<void> {
  const text = site.text(version);
  const size = Math.ceil(text.length / 10);
  writeFileSync(site.file(MAIN), '');
  for (let at = 0; at < text.length; at += size) {
    appendFileSync(site.file(MAIN), text.slice(at, at + size));
    await pause(20);
  }
}

function invalidFirst(invalidate: (text: string) => string): Scenario['change'] {
  return async (site, version) => {
    await site.expectReload('rejected', () => site.write(MAIN, invalidate(site.text(version))));
    site.write(MAIN, site.text(version));
  };
}

function swapLink(site: Site, name: string, target: string): void {
  symlinkSync(target, site.file(`${name}.link`));
  renameSync(site.file(`${name}.link`), site.file(name));
}

function mainOnly(site: Site, version: number): Files {
  return { [MAIN]: site.text(version) };
}

function withIncludes(site: Site, version: number, include = 'include: routes/*.yaml\n'): Files {
  const files = { 'routes/a.yaml': routesText(version, 'first'), 'routes/b.yaml': routesText(version, 'last') };
  return { [MAIN]: `${site.head(include)}# ${version}\n`, ...files };
}

function routesText(version: number, part: 'first' | 'last'): string {
  return `routes:\n${routesOf(version, part)}`;
}

function withSelfTest(site: Site, version: number): Files {
  const testFile = `version: 1
cases:
  - name: the response has the version
    request: { method: GET, url: /last }
    expect: { status: 200, headers: { X-Version: '${version}' } }
`;
  const main = site.text(version).replace('upstreams:', 'reload: { selfTest: self.test.yaml }\nupstreams:');
  return { [MAIN]: main, 'self.test.yaml': testFile };
}

function writeAll(site: Site, files: Files): void {
  for (const [name, text] of Object.entries(files)) site.write(name, text);
}

function replaceAll(site: Site, files: Files): void {
  for (const [name, text] of Object.entries(files)) site.replace(name, text);
}

/** Returns the name of the file that has the last routes. */
function nameOfLast(site: Site): string {
  const names = [`routes/z${site.acknowledged}.yaml`, 'routes/b.yaml'];
  return names.find((name) => lstatSync(site.file(name), { throwIfNoEntry: false }) !== undefined) ?? '';
}

/** Creates the files like the kubelet: a folder for each version, a link to the current one, and links through it. */
function beginConfigMap(filesOf: (site: Site, version: number) => Files): NonNullable<Scenario['begin']> {
  return (site, version) => {
    const files = filesOf(site, version);
    placeVersion(site, version, files);
    symlinkSync(`..v${version}`, site.file('..data'));
    for (const top of new Set(Object.keys(files).map((name) => name.split('/')[0] ?? '')))
      symlinkSync(join('..data', top), site.file(top));
  };
}

function swapConfigMap(filesOf: (site: Site, version: number) => Files): Scenario['change'] {
  return (site, version) => {
    placeVersion(site, version, filesOf(site, version));
    swapLink(site, '..data', `..v${version}`);
    rmSync(site.file(`..v${version - 1}`), { recursive: true, force: true });
  };
}

function placeVersion(site: Site, version: number, files: Files): void {
  for (const [name, text] of Object.entries(files)) site.write(`..v${version}/${name}`, text);
}

function mount(source: string, target: string): void {
  execFileSync('mount', ['--bind', source, target], { stdio: 'ignore' });
}

/** Returns true if this user may mount. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  try {
    mount(folder, folder);
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(folder);
  }
}

function beginElsewhere(site: Site, version: number): void {
  site.write('elsewhere/real.yaml', site.text(version));
  symlinkSync('elsewhere/real.yaml', site.file(MAIN));
}
