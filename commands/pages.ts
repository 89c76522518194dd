import { defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { privately } from '../src/core/bot/outcome.ts';
import { type Invocation, serverWord } from '../src/core/invocation.ts';
import { scopeText } from '../src/core/moderation.ts';
import type { ChoiceOption } from '../src/core/options.ts';
import { runControl, withControls } from './text/controls.ts';
import { overridesText, pagesText } from './text/moderation.ts';
import { choicesOf, whereOption } from './text/options.ts';

const UNREACHABLE =
  "Pages can't be opened because no public address is set. Ask the bot's operator to set PUBLIC_URL.";

const songs = {
  type: 'choice',
  description: "When pages are on, anyone with a song's link can listen",
  label: 'Song pages',
  help: "When they are on, anyone with a song's link can listen.",
  required: true,
  choices: choicesOf(['on', 'off']),
} as const satisfies ChoiceOption;

const turn = (on: boolean, where = 'channel') =>
  runControl(
    { command: 'pages', subcommand: 'set', options: { songs: on ? 'on' : 'off', where } },
    on ? 'Turn on' : 'Turn off',
  );

const reset = (where: string) =>
  runControl({ command: 'pages', subcommand: 'reset', options: { where } }, 'Use the default');

async function show({ address }: Pick<Invocation, 'address'>, { inForce }: Context) {
  const now = await inForce.pages();
  return privately({
    title: 'Song pages',
    text: pagesText(now, address),
    actions: [...turn(!now.on), ...(now.from === 'channel' ? reset('channel') : [])],
    footer: `A channel's setting overrides the ${serverWord(address)}'s. Threads use the settings of their channel.`,
  });
}

export const pages = withControls(
  defineGroup({
    name: 'pages',
    description: 'Turn public song pages on or off, and get the album link',
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
        form: { title: 'Song pages', submitLabel: 'Save' },
        options: { songs, where: whereOption },
        async run({ options: { songs: chosen, where = 'channel' }, address }, { moderation }) {
          const exceptions = overridesText(await moderation.pages.set(chosen === 'on', where));
          const place = scopeText(where, address);
          const text =
            chosen === 'on'
              ? `Song pages are on in ${place}, for new and earlier songs. New songs have a link to their page.${exceptions}`
              : `Song pages are off in ${place}. Shared links no longer work.${exceptions}`;
          return privately({ text, actions: [...turn(chosen === 'off', where), ...reset(where)] });
        },
      }),

      reset: defineSubcommand({
        description: "Reset to the server's setting or the default",
        options: { where: whereOption },
        async run({ options: { where = 'channel' }, address }, { inForce, moderation }) {
          const wasSet = await moderation.reset('pages', where);
          const now = pagesText(await inForce.pages(), address);
          return privately(
            wasSet ? `Reset. ${now}` : `Nothing was set for ${scopeText(where, address)}. ${now}`,
          );
        },
      }),

      album: defineSubcommand({
        description: "Get a link to this channel's album page",
        options: {
          withdraw: { type: 'flag', description: 'Remove the link; the next one will be different' },
        },
        async run({ options: { withdraw } }, { moderation }) {
          if (withdraw) {
            const wasSet = await moderation.pages.withdrawAlbum();
            return privately(wasSet ? 'Link removed.' : 'This channel had no album link.');
          }
          const url = await moderation.pages.album();
          if (url === undefined) return privately(UNREACHABLE);
          return privately({
            text: 'Anyone with this link can see the newest songs of this channel. To remove the link, use **/pages album withdraw:true**.',
            actions: [{ type: 'link', url, label: 'Open album' }],
          });
        },
      }),
    },
  }),
);
