/**
 * `npm run build`: compiles to JavaScript for the npm package, because Node strips no types inside node_modules. `npm run check` has
 * checked the types.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { runProgram } from '../src/app/process.ts';

const FOLDER = 'dist';

/** Files that the compiler does not write: modules for browsers, style sheets and drawings. */
const isAsset = (path: string) => statSync(path).isDirectory() || extname(path) !== '.ts';

function main(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  cpSync('src', `${FOLDER}/src`, { recursive: true, filter: isAsset });
  execFileSync('tsc', ['-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}

const usage = `Usage: npm run build
Compiles the npm package to ${FOLDER}/. npm pack and npm publish run it.`;
await runProgram({ usage }, main);
