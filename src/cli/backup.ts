/** `npm run backup -- <folder>`: copies jobs, settings and media, even while the bot runs. */
import { backUp } from '../app/backup/create.ts';
import { type Arguments, openProgram, runProgram } from '../app/process.ts';
import { commandLine } from '../core/util/installation.ts';
import { counted } from '../core/util/words.ts';

const usage = `Usage: ${commandLine('backup', '<folder>')}
Copies jobs, settings and media, even while the bot runs. Updates an earlier backup in the folder.`;

async function main({ positionals: [folder = ''] }: Arguments<never>): Promise<void> {
  const { config, system } = openProgram();
  const { lines, media } = await backUp(folder, config, system);
  const files = media
    ? `${counted(media.files, 'file')} (${Math.ceil(media.bytes / 1e6)} MB)`
    : 'no files, because they are in the MEDIA_STORE bucket';
  process.stdout.write(
    `${folder} holds ${counted(lines, 'record')} and ${files}. Keep it secret: it contains the bot's signing secret.\n`,
  );
}

export const runBackup = (args: readonly string[]) => runProgram({ usage, takes: 1 }, main, args);
