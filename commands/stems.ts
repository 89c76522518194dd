import { type Context, defineCommand, type OptionDeclarations, type Outcome } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import { actionId, type MediaItem } from '../src/message.ts';
import type { JobView } from '../src/work.ts';
import { clip, quoted } from './text.ts';

type Split = 'separate_vocal' | 'split_stem';

const SPLITS = [
  { name: 'vocals', value: 'separate_vocal' },
  { name: 'all', value: 'split_stem' },
] as const satisfies readonly { name: string; value: Split }[];

/** Enough to find any song people still talk about. */
const SONGS_SEARCHED = 100;
const SONGS_SUGGESTED = 25;

const options = {
  song: {
    type: 'text',
    description: 'A song of this channel; the latest if left out',
    maximumLength: 200,
    async suggest({ typed }, context) {
      const wanted = typed.trim().toLowerCase();
      return (await takes(context))
        .filter(({ name }) => name.toLowerCase().includes(wanted))
        .slice(0, SONGS_SUGGESTED)
        .map(({ name, job, index }) => ({ name, value: `${job.id}:${index}` }));
    },
  },
  split: { type: 'choice', description: 'Voice and band, or every instrument', choices: SPLITS },
} as const satisfies OptionDeclarations;

export const stems = defineCommand({
  name: 'stems',
  description: 'Take a song apart into its voice and instruments',
  options,

  async run({ options: { song, split } }, context) {
    const { job, index } = await findTake(song, context);
    return splitStems(job, index, split ?? 'separate_vocal', context);
  },

  done(job) {
    const name = job.title.replace(/^Taking apart /, '');
    return {
      title: `Stems of ${name}`,
      media: (job.result?.stems ?? []).map(
        (stem): MediaItem => ({
          kind: 'audio',
          name: `${name.replace(/[“”]/g, '')} - ${stem.name}`,
          source: { type: 'remote', url: stem.url },
          caption: stem.name,
        }),
      ),
      actions: [
        {
          type: 'action',
          id: actionId({ command: 'stems', action: 'again', job: job.id, index: 0 }),
          label: 'Again',
        },
      ],
    };
  },
});

/** Starts the split of one take of a finished song. Throws UserError when the gateway's ids of it are not known. */
export async function splitStems(
  job: JobView,
  index: number,
  type: Split,
  { jobs }: Context,
): Promise<Outcome> {
  const item = job.result?.songs[index];
  if (!item?.audioId || !job.taskId) {
    throw new UserError(
      'The gateway gave no ids for this song, so it cannot be taken apart. Make it again and try that one.',
    );
  }
  return jobs.start({
    work: { route: 'music.vocalRemoval', request: { taskId: job.taskId, audioId: item.audioId, type } },
    title: `Taking apart ${quoted(item.title ?? 'the song')}`,
    parent: job.id,
    command: 'stems',
  });
}

interface Take {
  readonly name: string;
  readonly job: JobView;
  readonly index: number;
}

async function takes({ jobs }: Context): Promise<Take[]> {
  const songs = await jobs.recentSongs(SONGS_SEARCHED);
  return songs.flatMap((job) =>
    (job.result?.songs ?? []).map(({ title }, index, all) => ({
      name: clip(all.length > 1 ? `${title ?? 'Untitled'} (take ${index + 1})` : (title ?? 'Untitled'), 100),
      job,
      index,
    })),
  );
}

async function findTake(named: string | undefined, context: Context): Promise<Take> {
  const known = await takes(context);
  const [latest] = known;
  if (!latest)
    throw new UserError('There is no song in this channel yet. Make one with /song first.', 'song');
  if (named === undefined) return latest;
  const wanted = named.trim().toLowerCase();
  const found =
    known.find(({ job, index }) => `${job.id}:${index}` === named.trim()) ??
    known.find(({ name }) => name.toLowerCase() === wanted) ??
    known.find(({ name }) => name.toLowerCase().includes(wanted));
  if (found) return found;
  throw new UserError(
    `This channel has no song called “${clip(named, 80)}”. The latest is “${latest.name}”.`,
    'song',
  );
}
