import { defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { privately } from '../src/core/bot/outcome.ts';
import { type Invocation, serverWord } from '../src/core/invocation.ts';
import { placeText } from '../src/core/moderation.ts';
import type { ChoiceOption } from '../src/core/options.ts';
import { ownChoiceWins, pagesText } from './text/moderation.ts';
import { choicesOf, whereOption } from './text/options.ts';

const UNREACHABLE =
  'Pages cannot be opened from outside: whoever runs this bot has given it no public address.';

const songs = {
  type: 'choice',
  description: 'When on, anyone with a song’s link can listen',
  required: true,
  choices: choicesOf(['on', 'off']),
} as const satisfies ChoiceOption;

async function show({ address }: Pick<Invocation, 'address'>, { inForce }: Context) {
  return privately({
    title: 'Song pages',
    text: pagesText(await inForce.pages(), address),
    footer: `A channel’s choice wins over the ${serverWord(address)}’s. Threads belong to their channel.`,
  });
}

export const pages = defineGroup({
  name: 'pages',
  description: 'Public song pages: on or off, and the album link',
  moderatorsOnly: true,
  answersPrivately: true,

  subcommands: {
    show: defineSubcommand({
      description: 'Show whether song pages are on here, and why',
      options: {},
      run: show,
    }),

    set: defineSubcommand({
      description: 'Turn song pages on or off',
      options: { songs, where: whereOption },
      async run({ options: { songs: chosen, where = 'channel' }, address }, { moderation }) {
        const still = ownChoiceWins(await moderation.pages.set(chosen === 'on', where));
        const there = placeText(where, address);
        return privately(
          chosen === 'on'
            ? `Songs made in ${there} have pages now: a Listen button under each new one, and those of before.${still}`
            : `Songs made in ${there} have no pages now. Links that were shared open nothing.${still}`,
        );
      },
    }),

    reset: defineSubcommand({
      description: 'Reset to the server’s choice or the default',
      options: { where: whereOption },
      async run({ options: { where = 'channel' }, address }, { inForce, moderation }) {
        const had = await moderation.reset('pages', where);
        const now = pagesText(await inForce.pages(), address);
        return privately(
          had ? `Taken back. ${now}` : `There was no choice for ${placeText(where, address)}. ${now}`,
        );
      },
    }),

    album: defineSubcommand({
      description: 'Get a link to this channel’s album page',
      options: { withdraw: { type: 'flag', description: 'Remove the link; the next one will be different' } },
      async run({ options: { withdraw } }, { moderation }) {
        if (withdraw) {
          const had = await moderation.pages.withdrawAlbum();
          return privately(had ? 'The link opens nothing now.' : 'This channel had no link to its songs.');
        }
        const url = await moderation.pages.album();
        if (url === undefined) return privately(UNREACHABLE);
        return privately({
          text: 'Everybody who has this link sees the newest songs of this channel. **/pages album** with “withdraw” takes it away.',
          actions: [{ type: 'link', url, label: 'Open album' }],
        });
      },
    }),
  },
});
