/** Takes of existing songs: their names, their ids, and how to find them. */
import type { Autocomplete } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import { UserError } from '../../src/core/errors.ts';
import type { JobView } from '../../src/core/job.ts';
import { titleOf } from '../../src/core/music/song.ts';
import type { Result } from '../../src/core/work.ts';
import { clip, quoted } from '../text/phrases.ts';

/** Only the newest songs are searched. */
const SONGS_SEARCHED = 100;
/** In characters: completions have room for 100, including the take. */
const LISTED_TITLE = 90;

export interface Take {
  readonly job: JobView;
  readonly index: number;
}

/** As “Rain”, take 1. Plain. */
export function takeName({ job, index }: Take): string {
  const title = quoted(job.result?.songs[index]?.title ?? titleOf(job));
  return (job.result?.songs.length ?? 0) > 1 ? `${title}, take ${index + 1}` : title;
}

/** As `Rain (take 1)`, and `Rain (cover, take 1)` for a cover. */
export function withTake(title: string, index: number): string {
  const take = `take ${index + 1})`;
  const [, name, ending] = /^(.*) \(([^()]+)\)$/s.exec(title) ?? [];
  return name === undefined ? `${title} (${take}` : `${name} (${ending}, ${take}`;
}

export interface TakeWithIds extends Take {
  readonly song: Result['songs'][number];
  readonly taskId: string;
  readonly audioId: string;
}

/** Adds the gateway's ids. Throws UserError if they are unknown. */
export function takeWithIds({ job, index }: Take): TakeWithIds {
  const song = job.result?.songs[index];
  if (song?.audioId !== undefined && job.taskId !== undefined)
    return { job, index, song, taskId: job.taskId, audioId: song.audioId };
  throw new UserError(
    "The service sent no IDs for this song, so I can't work with it. Attach its file to /remix, or create the song again.",
  );
}

/** Starts work on a take. By default, /song shows the result. */
export async function startOn(
  take: Take,
  request: Pick<StartRequest, 'work' | 'title' | 'command' | 'options'>,
  { jobs }: Context,
): Promise<Outcome> {
  return jobs.start({ command: 'song', ...request, parent: take.job.id, basedOn: takeName(take) });
}

/** This channel, or every channel of the server that the person can read. */
type Where = 'channel' | 'server';

/** Newest song first; with `server`, this channel's songs first. */
async function takesOf(where: Where, { jobs }: Context): Promise<Take[]> {
  const songs =
    where === 'channel' ? await jobs.recentSongs(SONGS_SEARCHED) : await jobs.serverSongs(SONGS_SEARCHED);
  return songs.flatMap((job) => (job.result?.songs ?? []).map((_, index) => ({ job, index })));
}

function suggestTakesOf(where: Where): Autocomplete {
  return async ({ typed: input }, context) => {
    const query = input.trim().toLowerCase();
    const names = new Set<string>();
    return (await takesOf(where, context))
      .map((take) => {
        const name = listName(take);
        // A newer song of the same name hides this one from a search by name.
        const typed = names.has(name) ? {} : { typed: name };
        names.add(name);
        return { name, value: `${take.job.id}:${take.index}`, ...typed };
      })
      .filter(({ name }) => name.toLowerCase().includes(query));
  };
}
export const suggestTakes = suggestTakesOf('channel');
export const suggestServerTakes = suggestTakesOf('server');

/** Finds a take by completion or by (part of) its name. Without a name, returns the latest. Throws UserError. */
export async function findTake(
  name: string | undefined,
  option: string,
  context: Context,
  where: Where = 'channel',
): Promise<Take> {
  const takes = await takesOf(where, context);
  const [latest] = takes;
  if (!latest) {
    throw new UserError('There are no songs here yet. Create one with /song.', option);
  }
  if (name === undefined) return latest;
  const query = name.trim().toLowerCase();
  const found =
    takes.find(({ job, index }) => `${job.id}:${index}` === name.trim()) ??
    takes.find((take) => listName(take).toLowerCase() === query) ??
    takes.find((take) => listName(take).toLowerCase().includes(query));
  if (found) return found;
  throw new UserError(
    `There is no song named “${clip(name, 80)}” here. The latest is “${listName(latest)}”.`,
    option,
  );
}

function listName({ job, index }: Take): string {
  const songs = job.result?.songs ?? [];
  const title = clip(songs[index]?.title ?? titleOf(job), LISTED_TITLE);
  return songs.length > 1 ? withTake(title, index) : title;
}
