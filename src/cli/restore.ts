/** `npm run restore -- <folder>`: fills the empty storage of these settings from what `npm run backup` made. */
import { BackupError } from '../app/backup/folder.ts';
import { restore } from '../app/backup/restore.ts';
import { fail, openProgram, runProgram } from '../app/process.ts';
import { TransferError } from '../storage/transfer.ts';

const USAGE = 'Usage: npm run restore -- <folder>';

async function main(): Promise<void> {
  const [folder, ...others] = process.argv.slice(2);
  if (folder === undefined || others.length > 0) return fail(USAGE);
  const { config, log } = openProgram();
  try {
    const { jobs, settings, media } = await restore(folder, config, { log, random: Math.random, fetch });
    const files = media ? `, files: ${media.files - media.damaged.length}` : '';
    process.stdout.write(
      `Restored jobs: ${jobs}, settings: ${settings}${files}. The bot that the backup came from must not run any more.\n`,
    );
    if (media && media.damaged.length > 0)
      fail(`Left out, because their content is damaged: ${media.damaged.join(', ')}`);
  } catch (error) {
    if (!(error instanceof BackupError || error instanceof TransferError)) throw error;
    fail(error.message);
  }
}

if (import.meta.main) await runProgram(main);
