/** `npm run restore -- <folder>`: restores a backup into the configured storage, which must be empty. */
import { restore } from '../app/backup/restore.ts';
import { type Arguments, fail, openProgram, runProgram } from '../app/process.ts';
import { commandLine } from '../core/util/installation.ts';

const usage = `Usage: ${commandLine('restore', '<folder>')}
Restores a backup into the configured storage, which must be empty.`;

async function main({ positionals: [folder = ''] }: Arguments<never>): Promise<void> {
  const { config, system } = openProgram();
  const { jobs, settings, media } = await restore(folder, config, { ...system, fetch });
  const files = media ? `, files: ${media.files - media.damaged.length}` : '';
  process.stdout.write(
    `Restored jobs: ${jobs}, settings: ${settings}${files}. Do not start the original bot again.\n`,
  );
  if (media && media.damaged.length > 0) fail(`Skipped damaged files: ${media.damaged.join(', ')}`);
}

export const runRestore = (args: readonly string[]) => runProgram({ usage, takes: 1 }, main, args);
