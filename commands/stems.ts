import { defineCommand, type OptionDeclarations } from '../src/command.ts';
import { actionId, type MediaItem } from '../src/message.ts';
import type { JobView } from '../src/work.ts';
import { sourceName } from './studio/derived-messages.ts';
import { lineage } from './studio/lineage.ts';
import { splitOption, splitTake } from './studio/stems.ts';
import { findTake, suggestTakes } from './studio/takes.ts';

/** From as many as this on, they also come as one archive. */
const MANY = 3;

/** As they stand in a mixer, from the voice down; what the gateway calls otherwise comes after them. */
const ORDER: readonly string[] = [
  'vocals',
  'backing vocals',
  'instrumental',
  'drums',
  'percussion',
  'bass',
  'guitar',
  'keyboard',
  'piano',
  'synth',
  'strings',
  'brass',
  'woodwinds',
  'fx',
];

const options = {
  song: {
    type: 'text',
    description: 'A song of this channel; the latest if left out',
    maximumLength: 200,
    suggest: ({ typed }, context) => suggestTakes(typed, context),
  },
  split: splitOption,
} as const satisfies OptionDeclarations;

export const stems = defineCommand({
  name: 'stems',
  description: 'Take a song apart into its voice and instruments',
  options,

  async run({ options: { song, split } }, context) {
    return splitTake(await findTake(song, 'song', context), split ?? 'separate_vocal', context);
  },

  done(job) {
    const name = sourceName(job);
    const { fields, actions } = lineage(job);
    return {
      title: `Stems of ${name}`,
      media: inOrder(job).map(
        (stem): MediaItem => ({
          kind: 'audio',
          name: `${name} - ${stem.name}`,
          source: { type: 'remote', url: stem.url },
          caption: stem.name,
          tags: { title: `${name} - ${stem.name}`, artist: `Minstrel for ${job.person.displayName}` },
        }),
      ),
      fields: [...fields, { name: 'Asked by', value: job.person.displayName }],
      actions: [
        {
          type: 'action',
          id: actionId({ command: 'stems', action: 'again', job: job.id, index: 0 }),
          label: 'Again',
        },
        ...actions,
      ],
    };
  },

  archive: (job) => ((job.result?.stems.length ?? 0) >= MANY ? `${sourceName(job)} - all stems` : undefined),
});

function inOrder({ result }: JobView) {
  const place = (name: string): number => {
    const found = ORDER.indexOf(name);
    return found === -1 ? ORDER.length : found;
  };
  return (result?.stems ?? []).toSorted(
    (one, other) => place(one.name) - place(other.name) || one.name.localeCompare(other.name),
  );
}
