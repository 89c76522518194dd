/** `npm run forget -- <discord|slack> <id>`: `/minstrel forget` on behalf of a person who left. */
import { forgetByOperator } from '../app/forget.ts';
import { type Arguments, fail, openProgram, runProgram } from '../app/process.ts';
import { UserError } from '../core/errors.ts';
import { commandLine } from '../core/util/installation.ts';
import { counted } from '../core/util/words.ts';

const usage = `Usage: ${commandLine('forget', '<discord|slack> <id>')}
Deletes the data of a person who left. Example: ${commandLine('forget', 'discord 80351110224678912')}`;

async function main({ positionals: [platform = '', person = ''] }: Arguments<never>): Promise<void> {
  // A name or mention matches no record, and the output would claim that nothing was stored.
  const isId = platform === 'discord' ? /^\d{5,20}$/.test(person) : /^[A-Z\d]{5,20}$/.test(person);
  if (!['discord', 'slack'].includes(platform) || !isId) return fail(usage);
  const { config, system } = openProgram();
  try {
    const { jobs, files } = await forgetByOperator({ platform, person }, config, system);
    process.stdout.write(
      `Deleted ${counted(jobs, 'job')} and ${counted(files, 'file')} of ${person}, plus saved voices, schedules, contest entries, votes and usage.\n`,
    );
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    fail(
      'This person still has running jobs. Start the bot and let them finish. On SQLite, stop it again. Then retry.',
    );
  }
}

export const runForget = (args: readonly string[]) => runProgram({ usage, takes: 2 }, main, args);
