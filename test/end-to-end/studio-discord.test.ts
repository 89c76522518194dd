import { afterAll, beforeAll, describe } from 'vitest';
import type { InteractionHandle } from '../servers/discord/handle.ts';
import {
  buttonsOf,
  type DiscordServer,
  labelsOf,
  type StoredMessage,
  startDiscord,
} from '../servers/discord/index.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';
import { type Recording, type Shown, type StudioPerson, studioChain, type Values } from './studio-chain.ts';

let discord: DiscordServer;
let running: RunningMinstrel;

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  running = await startMinstrel(
    {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
    },
    { speed: 0.15, songSeconds: 10 },
  );
  await discord.until(() => discord.commands.length > 0, 'registered commands');
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
});

const isRecording = (value: Values[string]): value is Recording => typeof value === 'object';
const attached = ({ name, bytes }: Recording) => ({ filename: name, contentType: 'audio/wav', bytes });
const ends = (message: StoredMessage) =>
  labelsOf(message).some((label) => label === 'Again' || label === 'Sing with it');
const words = ({ content, embeds }: Pick<StoredMessage, 'content' | 'embeds'>) =>
  `${content}\n${JSON.stringify(embeds)}`;

async function resultOf(handle: InteractionHandle, files: number): Promise<Shown<StoredMessage>> {
  const message = await handle.message((one) => ends(one) && one.attachments.length >= files);
  return {
    handle: message,
    text: words(message),
    labels: labelsOf(message).map((label = '') => label.replace(/^(\w+) (\d)$/, '$1 take $2')),
    links: buttonsOf(message).flatMap(({ url }) => (url === undefined ? [] : [url])),
    files: message.attachments.map(({ filename, bytes }) => ({ name: filename, bytes })),
    early: earlyStateOf(message),
  };
}

function earlyStateOf(message: StoredMessage): Shown['early'] {
  const unfinished = message.history.map(words).filter((text) => !text.includes('Take 2'));
  return {
    words: unfinished.join('\n'),
    takes: unfinished.some((text) => text.includes('Take 1')) ? 1 : 0,
  };
}

/** Adds the suffix `:number` to the form's number fields. */
function fieldsFor(values: Values, fields: readonly string[]) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      fields.includes(`${name}:number`) ? `${name}:number` : name,
      isRecording(value) ? [attached(value)] : value === true ? true : String(value),
    ]),
  );
}

/** Buttons in a row have short labels, options in a menu long ones. */
const press = (label: string, message: StoredMessage) => {
  const short = label.replace(/^(\w+) take (\d)$/, '$1 $2');
  return discord.press(labelsOf(message).includes(short) ? short : label, message);
};

const ada: StudioPerson<StoredMessage> = {
  async command(name, values, files) {
    const options = Object.fromEntries(
      Object.entries(values).map(([option, value]) => [option, isRecording(value) ? attached(value) : value]),
    );
    return resultOf(discord.command({ name, options }), files);
  },
  press: async ({ handle }, label, files) => resultOf(press(label, handle), files),
  async fill({ handle }, label, values, files) {
    const interaction = press(label, handle);
    const modal = await interaction.modal();
    const names = JSON.stringify(modal.components).matchAll(/"custom_id":"([^"]+)"/g);
    const fields = fieldsFor(
      values,
      [...names].map(([, name = '']) => name),
    );
    return resultOf(await discord.submitModal(interaction, fields), files);
  },
  async pressQuietly({ handle }, label) {
    return words(await press(label, handle).response());
  },
  async suggest(name, option, typed) {
    const choices = await discord.autocomplete({ name, option, typed });
    return choices.map((choice) => ({ ...choice, value: String(choice.value) }));
  },
  linkTo: ({ handle }) => `https://discord.com/channels/${discord.guild.id}/${handle.channelId}/${handle.id}`,
};

describe('the music studio on Discord, from a song to a remix', () => {
  studioChain({
    person: () => ada,
    reached: () => running.emulator.requests.map(({ url }) => url),
    refused: () => discord.refused,
  });
});
