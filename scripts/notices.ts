/** `npm run notices`: writes the packages of a deployment and their licences, from package-lock.json. */
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { runProgram } from '../src/app/process.ts';

export const NOTICES_FILE = 'THIRD-PARTY-NOTICES';

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      /** Where another package than that of the path is there. */
      name: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
    }),
  ),
});

const HEAD = `Minstrel is under the licence in LICENSE. An installation (npm ci --omit=dev, and the Docker image) also holds the packages
below, unchanged, each with its licence text in its folder under node_modules, as in node_modules/zod/LICENSE. Of packages
with a system in their name, only those of the machine's own system are installed. Where a package comes from, and its source, is
told by https://www.npmjs.com/package/<name>. "npm run notices" writes this file from package-lock.json.`;

/** What those who pass an installation on have to know, by a part of the licence. */
const DUTIES: readonly (readonly [licence: RegExp, duty: string])[] = [
  [
    /LGPL/,
    `These hold libvips and libraries that it uses (glib, cairo, pango, librsvg, libheif and others), as shared libraries that
are loaded while the program runs and may be replaced by others of the same interface. The README of each names them with their licences.
Sources and the way they are built: https://github.com/lovell/sharp-libvips`,
  ],
  [/MPL/, 'These hold resvg, whose files are under the MPL. Source: https://github.com/thx/resvg-js'],
  [
    /OFL/,
    'These hold fonts, under the SIL Open Font License. Its text is in the package. https://openfontlicense.org',
  ],
];

/** The text of the file, for the text of package-lock.json. Throws ZodError for another. */
export function noticesFile(lock: string): string {
  const { packages } = lockSchema.parse(JSON.parse(lock));
  const shipped = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version, name, license = 'none given' }]) => ({
      licence: license,
      name: `${name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}`,
    }));
  const byLicence = [...Map.groupBy(shipped, ({ licence }) => licence)];
  const sections = byLicence
    .toSorted(([left], [right]) => left.localeCompare(right, 'en'))
    .map(([licence, found]) => {
      const duties = DUTIES.flatMap(([pattern, duty]) => (pattern.test(licence) ? [duty] : []));
      const names = [...new Set(found.map(({ name }) => name))].toSorted();
      return [`--- ${licence} `.padEnd(117, '-'), ...duties, names.join('\n')].join('\n\n');
    });
  return `${[HEAD, ...sections].join('\n\n')}\n`;
}

async function main(): Promise<void> {
  await writeFile(NOTICES_FILE, noticesFile(await readFile('package-lock.json', 'utf8')));
  process.stdout.write(`Wrote ${NOTICES_FILE}.\n`);
}

if (import.meta.main) await runProgram(main);
