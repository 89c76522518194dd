/** Songs that exist: what their takes are called, what is known of them, and how people find them again. */
import type { Autocomplete } from '../../src/core/bot/command.ts';
import type { Context, StartRequest } from '../../src/core/bot/context.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import { UserError } from '../../src/core/errors.ts';
import type { JobView } from '../../src/core/job.ts';
import { titleOf } from '../../src/core/music/song.ts';
import type { Result } from '../../src/core/work.ts';
import { clip, quoted } from '../text/phrases.ts';

/** Older songs are not found by name. */
const SONGS_SEARCHED = 100;
/** Characters of a title in a list: a completion has room for 100, with the take behind it. */
const LISTED_TITLE = 90;

/** One take of a song. */
export interface Take {
  readonly job: JobView;
  readonly index: number;
}

/** For people, such as “Rain”, take 1. Plain. */
export function takeName({ job, index }: Take): string {
  const title = quoted(job.result?.songs[index]?.title ?? titleOf(job));
  return (job.result?.songs.length ?? 0) > 1 ? `${title}, take ${index + 1}` : title;
}

/** The title with the number of a take: `Rain (take 1)`, and `Rain (cover, take 1)` for a cover. */
export function withTake(title: string, index: number): string {
  const take = `take ${index + 1})`;
  const [, name, ending] = /^(.*) \(([^()]+)\)$/s.exec(title) ?? [];
  return name === undefined ? `${title} (${take}` : `${name} (${ending}, ${take}`;
}

export interface KnownTake extends Take {
  readonly song: Result['songs'][number];
  readonly taskId: string;
  readonly audioId: string;
}

/** The take with the gateway's ids of it. Throws UserError when they are not known, with what still works. */
export function knownTake({ job, index }: Take): KnownTake {
  const song = job.result?.songs[index];
  if (song?.audioId !== undefined && job.taskId !== undefined)
    return { job, index, song, taskId: job.taskId, audioId: song.audioId };
  throw new UserError(
    'The gateway gave no IDs for this song, so I cannot use it. Attach its file to /remix, or create the song again.',
  );
}

/** Starts work on a take; the command that shows the result is /song if none is named. */
export async function startOn(
  take: Take,
  request: Pick<StartRequest, 'work' | 'title' | 'command' | 'asked'>,
  { jobs }: Context,
): Promise<Outcome> {
  return jobs.start({ command: 'song', ...request, parent: take.job.id, madeFrom: takeName(take) });
}

/** This channel, or all of its server that the person can read. */
type Where = 'channel' | 'server';
const HERE = { channel: 'in this channel', server: 'here' } as const satisfies Record<Where, string>;

/** Takes of songs, this channel's first, newest song first. */
async function takesOf(where: Where, { jobs }: Context): Promise<Take[]> {
  const songs =
    where === 'channel' ? await jobs.recentSongs(SONGS_SEARCHED) : await jobs.serverSongs(SONGS_SEARCHED);
  return songs.flatMap((job) => (job.result?.songs ?? []).map((_, index) => ({ job, index })));
}

/** Completions for an option that takes one of the songs. */
function suggestTakesOf(where: Where): Autocomplete {
  return async ({ typed: begun }, context) => {
    const wanted = begun.trim().toLowerCase();
    const named = new Set<string>();
    return (await takesOf(where, context))
      .map((take) => {
        const name = listName(take);
        // By its name an older song is hidden by a newer one of the same name.
        const typed = named.has(name) ? {} : { typed: name };
        named.add(name);
        return { name, value: `${take.job.id}:${take.index}`, ...typed };
      })
      .filter(({ name }) => name.toLowerCase().includes(wanted));
  };
}
export const suggestTakes = suggestTakesOf('channel');
export const suggestServerTakes = suggestTakesOf('server');

/** The take that was named: as a completion, or by (a part of) its name; the latest if none was. Throws UserError. */
export async function findTake(
  named: string | undefined,
  option: string,
  context: Context,
  where: Where = 'channel',
): Promise<Take> {
  const known = await takesOf(where, context);
  const [latest] = known;
  if (!latest) {
    throw new UserError(`There are no songs ${HERE[where]} yet. Create one with /song.`, option);
  }
  if (named === undefined) return latest;
  const wanted = named.trim().toLowerCase();
  const found =
    known.find(({ job, index }) => `${job.id}:${index}` === named.trim()) ??
    known.find((take) => listName(take).toLowerCase() === wanted) ??
    known.find((take) => listName(take).toLowerCase().includes(wanted));
  if (found) return found;
  throw new UserError(
    `There is no song called “${clip(named, 80)}” ${HERE[where]}. The latest is “${listName(latest)}”.`,
    option,
  );
}

function listName({ job, index }: Take): string {
  const songs = job.result?.songs ?? [];
  const title = clip(songs[index]?.title ?? titleOf(job), LISTED_TITLE);
  return songs.length > 1 ? withTake(title, index) : title;
}
