/** `npm run notices`: lists the packages of a deployment with their licences, from package-lock.json. */
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { runProgram } from '../src/app/process.ts';

export const NOTICES_FILE = 'THIRD-PARTY-NOTICES';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      /** Set if the package is installed under an alias. */
      name: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
    }),
  ),
});

const HEAD = `Minstrel is licensed under the terms in LICENSE. An installation (npm ci --omit=dev) and the Docker image also contain
the packages below, unmodified. Each has its licence text in its folder under node_modules, such as node_modules/zod/LICENSE.
Of packages with an operating system in their name, only those for the machine's own system are installed. For the origin
and source of a package, see https://www.npmjs.com/package/<name>. "npm run notices" generates this file from package-lock.json.`;

/** Notices for anyone who redistributes an installation, by a part of the licence name. */
const DUTIES: readonly (readonly [licence: RegExp, duty: string])[] = [
  [
    /LGPL/,
    `These contain libvips and its dependencies (glib, cairo, pango, librsvg, libheif and others) as shared libraries. They are
loaded at run time and may be replaced by compatible versions. The README of each package lists them with their licences.
Sources and build instructions: https://github.com/lovell/sharp-libvips`,
  ],
  [/MPL/, 'Their sources: https://github.com/thx/resvg-js and https://github.com/Vanilagy/mediabunny'],
  [
    /OFL/,
    'These contain fonts under the SIL Open Font License. Its text is in the package. https://openfontlicense.org',
  ],
];

/** Libraries that packages contain as WebAssembly, with other licences than the package. */
const COMPILED = [
  ['@mediabunny/aac-encoder', 'the AAC encoder of FFmpeg (LGPL-2.1-or-later)', 'https://ffmpeg.org'],
  ['h264-mp4-encoder', 'libmp4v2 (MPL-1.1)', 'https://github.com/sergiomb2/libmp4v2'],
  ['mpg123-decoder', 'mpg123 (LGPL-2.1-only)', 'https://www.mpg123.de'],
  ['opusscript', 'libopus (BSD-3-Clause)', 'https://opus-codec.org'],
  [
    'wasm-media-encoders',
    'LAME (LGPL-2.0-or-later) and libvorbis (BSD-3-Clause)',
    'https://lame.sourceforge.io',
  ],
] as const;

/** @param lock the text of package-lock.json. Throws ZodError if it has another structure. */
export function noticesFile(lock: string): string {
  const { packages } = lockSchema.parse(JSON.parse(lock));
  const shipped = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version, name, license = 'not specified' }]) => ({
      licence: license,
      name: `${name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}`,
    }));
  const byLicence = [...Map.groupBy(shipped, ({ licence }) => licence)];
  const sections = byLicence
    .toSorted(([left], [right]) => left.localeCompare(right, 'en'))
    .map(([licence, group]) => {
      const duties = DUTIES.flatMap(([pattern, duty]) => (pattern.test(licence) ? [duty] : []));
      const names = [...new Set(group.map(({ name }) => name))].toSorted();
      return [`--- ${licence} `.padEnd(117, '-'), ...duties, names.join('\n')].join('\n\n');
    });
  const compiled = [
    '--- Compiled into packages above '.padEnd(117, '-'),
    ...COMPILED.map(([name, library, source]) => `${name}: ${library}, ${source}`),
  ].join('\n\n');
  return `${[HEAD, ...sections, compiled].join('\n\n')}\n`;
}

async function main(): Promise<void> {
  await writeFile(NOTICES_FILE, noticesFile(await readFile('package-lock.json', 'utf8')));
  process.stdout.write(`Wrote ${NOTICES_FILE}.\n`);
}

if (import.meta.main) {
  const usage = `Usage: npm run notices
Lists the packages of a deployment with their licences in ${NOTICES_FILE}.`;
  await runProgram({ usage }, main);
}
