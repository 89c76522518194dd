/** Minstrel runs as TypeScript in a checkout, and as JavaScript from its npm package. */
import { extname } from 'node:path';

const EXTENSION = extname(import.meta.url);
const isPackage = EXTENSION === '.js';

/** Without the lines that npm adds, because people paste the output. */
const SILENT: readonly string[] = ['manifest'];

/** The command that runs a program: `npm run backup -- monday` in a checkout, `npx minstrel backup monday` from the package. */
export function commandLine(program: string, args = ''): string {
  if (isPackage) return ['npx minstrel', program, args].filter(Boolean).join(' ');
  const command =
    program === 'start' ? 'npm start' : `npm run ${SILENT.includes(program) ? '--silent ' : ''}${program}`;
  return args === '' ? command : `${command} -- ${args}`;
}

/** Where operators find a page of docs/, such as `discord.md`. */
export function docsPage(page: string): string {
  const path = `docs/${page}`;
  return isPackage ? `https://github.com/minstrel-authors/minstrel/blob/main/${path}` : path;
}

/** The module at the URL of a `.ts` file, for worker threads. The compiler only rewrites imports. */
export function builtModule(module: URL): URL {
  return new URL(module.href.replace(/\.ts$/, EXTENSION));
}
