import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Path } from '../../engine/problem/finding.ts';

type Holder = Record<string | number, unknown>;

/** Returns a copy with another value at a path. Only the objects on the path are copied. @param root a manifest, or the body of a request */
export function withValue<Root extends object>(root: Root, path: Path, value: unknown): Root {
  return edited(root, path, (holder, key) => {
    holder[key] = value;
  });
}

/** Returns a copy of the manifest without the value at a path. The later items of a list move up. */
export function withoutValue(manifest: Manifest, path: Path): Manifest {
  return edited(manifest, path, (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  });
}

export function withItems(manifest: Manifest, path: Path, ...items: readonly unknown[]): Manifest {
  return edited(manifest, path, (holder, key) => {
    holder[key] = [...((holder[key] as unknown[] | undefined) ?? []), ...items];
  });
}

function edited<Root extends object>(
  original: Root,
  path: Path,
  change: (holder: Holder, key: string | number) => void,
): Root {
  const root = copyOf(original);
  const key = path.at(-1) as string | number;
  let holder = root;
  for (const step of path.slice(0, -1)) {
    const inner = copyOf(holder[step]);
    holder[step] = inner;
    holder = inner;
  }
  change(holder, key);
  return root as Root;
}

function copyOf(value: unknown): Holder {
  return (Array.isArray(value) ? [...value] : { ...(value as object) }) as unknown as Holder;
}
