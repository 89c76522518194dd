/** Serves the modules and style sheets of pages, modules of npm packages, and the brand, without a build step. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { brandStyles, markSvg } from '../core/brand.ts';
import { sendNotFound } from './not-found.ts';
import type { Routes } from './server.ts';

export interface AssetSources {
  /** The path prefix, such as `/assets/pages`. */
  readonly path: string;
  /** Modules, style sheets and SVGs in these folders are served by name. Subfolders are ignored. */
  readonly folders: readonly URL[];
  /** Files from other folders, by the same rule. */
  readonly files?: readonly URL[];
  /** Modules of npm packages: file by import specifier. */
  readonly packages?: Readonly<Record<string, URL>>;
  /** Folders of npm packages with several modules: folder by package name. `name/part` is the module `part.js` in it. */
  readonly packageFolders?: Readonly<Record<string, URL>>;
  /** Style sheets to combine into `styles.css` after `brand.css`, in cascade order. One file renders sooner than several. */
  readonly styles?: readonly string[];
}

export interface Assets {
  /** A hash of all assets. */
  readonly version: string;
  /** The path of an asset from the listener's root. Throws RangeError for an unknown name. */
  path(name: string): string;
  /** The content of an asset. */
  find(name: string): string | undefined;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Loads the assets on the first call, and again only after a failure. */
export function lazyAssets(sources: AssetSources): () => Promise<Assets> {
  let loading: Promise<Assets> | undefined;
  return () => {
    loading ??= loadAssets(sources).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Reads all assets into memory: at most a few hundred kB. */
export async function loadAssets({
  path,
  folders,
  files = [],
  packages = {},
  packageFolders = {},
  styles = [],
}: AssetSources): Promise<Assets> {
  const found = await Promise.all(
    folders.map(async (folder) => (await readdir(folder)).map((name) => new URL(name, folder))),
  );
  const assets = new Map([
    ['brand.css', brandStyles()],
    ['icon.svg', markSvg()],
  ]);
  for (const file of [...found.flat(), ...files]) {
    const name = basename(file.pathname);
    if (!Object.hasOwn(CONTENT_TYPES, extname(name))) continue;
    assets.set(name, withPaths(await readFile(file, 'utf8'), { packages, packageFolders }));
  }
  for (const [specifier, file] of Object.entries(packages))
    assets.set(packageName(specifier), await readFile(file, 'utf8'));
  for (const [specifier, folder] of Object.entries(packageFolders))
    for (const name of await readdir(folder, { recursive: true }))
      if (extname(name) === '.js')
        assets.set(`npm/${specifier}/${name}`, await readFile(new URL(name, folder), 'utf8'));
  assets.set('styles.css', ['brand.css', ...styles].map((name) => assets.get(name) ?? '').join('\n'));
  // Sorted, since the order of files in a folder depends on the system.
  const sorted = JSON.stringify([...assets].toSorted());
  const version = createHash('sha256').update(sorted).digest('hex').slice(0, 16);
  return {
    version,
    path(name) {
      if (!assets.has(name)) throw new RangeError(`Unknown asset: ${name}`);
      return `${path}/${version}/${name}`;
    },
    find: (name) => assets.get(name),
  };
}

/** All assets of a version share a folder, so relative paths work behind any proxy. */
function packageName(specifier: string): string {
  return `npm-${specifier.replaceAll(/[^\w]+/g, '-')}.js`;
}

type Packages = Required<Pick<AssetSources, 'packages' | 'packageFolders'>>;

/** Rewrites imports of packages and of other folders. The content security policy forbids an inline import map. */
function withPaths(module: string, packages: Packages): string {
  return module.replaceAll(/\b(from |import\()'([^'\n]+)'/g, (found, before: string, specifier: string) => {
    const name = assetName(specifier, packages);
    return name === undefined ? found : `${before}'./${name}'`;
  });
}

function assetName(specifier: string, { packages, packageFolders }: Packages): string | undefined {
  if (Object.hasOwn(packages, specifier)) return packageName(specifier);
  if (specifier.startsWith('../')) return specifier.slice(specifier.lastIndexOf('/') + 1);
  const [name = ''] = specifier.split('/', 1);
  return Object.hasOwn(packageFolders, name) ? `npm/${specifier}.js` : undefined;
}

/**
 * `GET {path}/:version/{name}`. During a rolling update, a page may request another version: it gets the current asset, uncached.
 */
export function assetRoutes(path: string, load: () => Promise<Assets>): Routes {
  return (scope) => {
    scope.get<{ Params: { version: string; '*': string } }>(`${path}/:version/*`, async (request, reply) => {
      const assets = await load();
      const { version, '*': name } = request.params;
      const asset = assets.find(name);
      if (asset === undefined) return sendNotFound(reply.header('cache-control', 'no-store'));
      const isCurrent = version === assets.version;
      return reply
        .header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-store')
        .header('cross-origin-resource-policy', 'same-origin')
        .type(CONTENT_TYPES[extname(name)] ?? '')
        .send(asset);
    });
  };
}

/**
 * Headers for HTML pages: load resources only from this listener, no inline scripts, no indexing, no framing.
 */
export function pageHeaders(): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'content-type': 'text/html; charset=utf-8',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'x-robots-tag': 'noindex, nofollow',
  };
}
