import { defineCommand } from '../src/core/bot/command.ts';
import { againButton, type MediaItem } from '../src/core/message.ts';
import { artistOf, inMixerOrder } from '../src/core/music/song.ts';
import type { OptionDeclarations } from '../src/core/options.ts';
import { capitalised } from '../src/core/util/words.ts';
import { splitOption, splitTake } from './song/actions.ts';
import { sourceName } from './song/derived-messages.ts';
import { pageLink } from './song/song-message.ts';
import { findTake, suggestTakes } from './song/takes.ts';
import { completedText } from './text/options.ts';
import { lineage, requestedBy } from './text/phrases.ts';

/** From this many stems, there is also a ZIP archive. */
const ARCHIVE_FROM = 3;

const options = {
  song: {
    ...completedText('A song from this channel (default: the latest)'),
    help: 'By default, the latest song of this channel.',
  },
  split: splitOption,
} as const satisfies OptionDeclarations;

export const stems = defineCommand({
  name: 'stems',
  family: 'song',
  description: 'Split a song into stems',
  options,
  form: { title: 'Split into stems', submitLabel: 'Split song' },
  autocomplete: { song: suggestTakes },

  async run({ options: { song, split } }, context) {
    return splitTake(await findTake(song, 'song', context), split ?? 'separate_vocal', context);
  },

  done(job) {
    const name = sourceName(job);
    return {
      title: `Stems of ${name}`,
      media: inMixerOrder(job.result?.stems ?? []).map(
        (stem): MediaItem => ({
          kind: 'audio',
          name: `${name} - ${stem.name}`,
          source: { type: 'remote', url: stem.url },
          caption: capitalised(stem.name),
          part: true,
          tags: { title: `${name} - ${stem.name}`, artist: artistOf(job) },
        }),
      ),
      actions: [againButton(job), ...pageLink(job, 'Open mixer', '#mixer'), ...lineage(job).actions],
      footer: requestedBy(job),
    };
  },

  archive: (job) =>
    (job.result?.stems.length ?? 0) >= ARCHIVE_FROM ? `${sourceName(job)} - all stems` : undefined,
});
