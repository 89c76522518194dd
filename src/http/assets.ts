/** What pages load besides themselves: modules and style sheets of ours, and modules of packages. Nothing is built. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { sendNotFound } from './not-found.ts';
import type { Routes } from './server.ts';

export interface AssetSources {
  /** Where they are served, such as `/assets/pages`. */
  readonly path: string;
  /** Their modules, style sheets and drawings are served under their names; nothing of folders within them is. */
  readonly folders: readonly URL[];
  /** Modules of packages: the specifier by which modules import one, and its file. */
  readonly packages?: Readonly<Record<string, URL>>;
  /** Style sheets that are also served as one, `styles.css`: a browser paints when it has all of them. In the order in which one may overrule another. */
  readonly styles?: readonly string[];
}

interface Asset {
  readonly contentType: string;
  readonly content: string;
}

export interface Assets {
  /** Changes with every byte of every asset. */
  readonly version: string;
  /** Of one asset, from the root of the listener. Throws RangeError for a name that is not there. */
  path(name: string): string;
  find(name: string): Asset | undefined;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Reads them at the first call, and again only after a failure. */
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

/** Reads all of them. They are a few dozen kB, so they stay in memory. */
export async function loadAssets({
  path,
  folders,
  packages = {},
  styles = [],
}: AssetSources): Promise<Assets> {
  const found = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder)).map((name) => ({ name, file: new URL(name, folder) })),
    ),
  );
  const files = [
    ...found.flat().filter(({ name }) => Object.hasOwn(CONTENT_TYPES, extname(name))),
    ...Object.entries(packages).map(([specifier, file]) => ({ name: packageName(specifier), file })),
  ];
  const assets = new Map<string, Asset>();
  const hash = createHash('sha256');
  for (const { name, file } of files.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const text = await readFile(file, 'utf8');
    const contentType = CONTENT_TYPES[extname(name)] ?? '';
    const content = contentType.startsWith('text/javascript') ? withPaths(text, packages) : text;
    assets.set(name, { contentType, content });
    hash.update(JSON.stringify([name, content]));
  }
  const joined = styles.map((name) => assets.get(name)?.content ?? '').join('\n');
  assets.set('styles.css', { contentType: CONTENT_TYPES['.css'] ?? '', content: joined });
  const version = hash.digest('hex').slice(0, 16);
  return {
    version,
    path(name) {
      if (!assets.has(name)) throw new RangeError(`No asset is called ${name}`);
      return `${path}/${version}/${name}`;
    },
    find: (name) => assets.get(name),
  };
}

/** All assets of a version are neighbours, so that a relative path works behind any proxy. */
function packageName(specifier: string): string {
  return `npm-${specifier.replaceAll(/[^\w]+/g, '-')}.js`;
}

/** An import map would have to be inline, which the content security policy forbids. */
function withPaths(module: string, packages: Readonly<Record<string, URL>>): string {
  return Object.keys(packages).reduce(
    (text, specifier) => text.replaceAll(`from '${specifier}'`, `from './${packageName(specifier)}'`),
    module,
  );
}

/**
 * `GET {path}/:version/:name`. A page of another version (replicas are replaced one by one) gets what is here, and keeps none
 * of it.
 */
export function assetRoutes(path: string, load: () => Promise<Assets>): Routes {
  return (scope) => {
    scope.get<{ Params: { version: string; name: string } }>(
      `${path}/:version/:name`,
      async (request, reply) => {
        const assets = await load();
        const { version, name } = request.params;
        const asset = assets.find(name);
        if (!asset) return sendNotFound(reply.header('cache-control', 'no-store'));
        const isPresent = version === assets.version;
        return reply
          .header('cache-control', isPresent ? 'public, max-age=31536000, immutable' : 'no-store')
          .header('cross-origin-resource-policy', 'same-origin')
          .type(asset.contentType)
          .send(asset.content);
      },
    );
  };
}

/**
 * For pages that are sent to browsers: they load from this listener alone, run no script of their own text, and are in no
 * search engine and in no frame.
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
