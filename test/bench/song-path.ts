/**
 * How far one plain `/song` goes on each platform: the source files and functions that run for it, by V8's precise
 * coverage, and how often its record is written. Prints JSON.
 */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMinstrel } from '../end-to-end/minstrel.ts';
import { startDiscord } from '../servers/discord/index.ts';
import { startSlackServer } from '../servers/slack/server.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

const SLACK_CHANNEL = 'C0MUSIC';
/** Runs every few seconds by itself, so it is no part of a song. */
const IN_BACKGROUND = 'src/app/inside/parties.ts';

interface SongPath {
  readonly files: readonly string[];
  readonly functions: number;
  readonly writes: number;
}

/** Runs `song`, which resolves to the id of its job, and takes what ran meanwhile. */
async function measure(
  song: () => Promise<string>,
  versionOf: (job: string) => Promise<number>,
): Promise<SongPath> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const job = await song();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const ran = result.flatMap(({ url, functions }) => {
    if (!url.startsWith('file:')) return [];
    const file = relative(project, fileURLToPath(url)).replaceAll('\\', '/');
    const called = functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0).length;
    // The emulator is the gateway, not the bot.
    const isPassed = called > 0 && !file.startsWith('src/emulator/') && file !== IN_BACKGROUND;
    return isPassed && /^(src|commands)\//.test(file) ? [{ file, called }] : [];
  });
  return {
    files: ran.map(({ file }) => file).toSorted(),
    functions: ran.reduce((sum, { called }) => sum + called, 0),
    writes: await versionOf(job),
  };
}

async function songOnDiscord(): Promise<SongPath> {
  const discord = await startDiscord();
  try {
    await using running = await startMinstrel({
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
    });
    await discord.until(() => discord.commands.length > 0, 'registered commands');
    const sing = async () => {
      const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain' } });
      const card = await song.message(({ attachments }) => attachments.length >= 2);
      return jobNamedIn(JSON.stringify(card.components));
    };
    // The first song loads what is loaded once.
    await sing();
    return await measure(sing, (job) => writesOf(running.minstrel, job));
  } finally {
    await discord.close();
  }
}

async function songOnSlack(): Promise<SongPath> {
  const slack = await startSlackServer();
  try {
    await using running = await startMinstrel({
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(slack.apiUrl).host,
    });
    const sung = new Set(['']);
    const sing = async () => {
      await slack.slash('/song', 'a tune for rain');
      const id = await slack.until(() =>
        slack
          .botMessages(SLACK_CHANNEL)
          .map(({ blocks }) => jobNamedIn(JSON.stringify(blocks)))
          .find((job) => !sung.has(job)),
      );
      sung.add(id);
      return id;
    };
    await sing();
    return await measure(sing, (job) => writesOf(running.minstrel, job));
  } finally {
    await slack.close();
  }
}

function jobNamedIn(text: string): string {
  return /song\.again:([\w-]+):/.exec(text)?.[1] ?? '';
}

/** The version of a record counts its writes, the first included. It is final once the job is delivered. */
async function writesOf(
  minstrel: { readonly job: (id: string) => Promise<object | undefined> },
  id: string,
): Promise<number> {
  for (;;) {
    const job = await minstrel.job(id);
    if (job && 'state' in job && job.state === 'delivered' && 'version' in job) return Number(job.version);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

if (import.meta.main) {
  const paths = { discord: await songOnDiscord(), slack: await songOnSlack() };
  process.stdout.write(`${JSON.stringify(paths, undefined, 2)}\n`);
}
