/** A person on the double of Discord, through the real discord.js. */
import type { InteractionHandle } from '../servers/discord/handle.ts';
import { buttonsOf, type DiscordServer, labelsOf, type StoredMessage } from '../servers/discord/index.ts';
import { isRecording, type Recording, type Shown, type StudioPerson, type Values } from './studio-chain.ts';

const attached = ({ name, bytes }: Recording) => ({ filename: name, contentType: 'audio/wav', bytes });
const ends = (message: StoredMessage) =>
  labelsOf(message).some((label) => label === 'Again' || label === 'Sing with it');
const words = ({ content, embeds }: Pick<StoredMessage, 'content' | 'embeds'>) =>
  `${content}\n${JSON.stringify(embeds)}`;

function earlyStateOf(message: StoredMessage): Shown['early'] {
  const takesOf = ({ attachments }: Pick<StoredMessage, 'attachments'>) =>
    attachments.filter(({ contentType }) => contentType.startsWith('audio/')).length;
  const unfinished = message.history.filter((state) => takesOf(state) < 2);
  return {
    words: unfinished.map(words).join('\n'),
    takes: unfinished.some((state) => takesOf(state) === 1) ? 1 : 0,
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

export function personOnDiscord(discord: DiscordServer): StudioPerson<StoredMessage> {
  /** Buttons in a row have short labels, options in a menu long ones. */
  const press = (label: string, message: StoredMessage) => {
    const short = label.replace(/^(\w+) take (\d)$/, '$1 $2');
    const inMenu = label.replace(/^(.+) take (\d)$/, 'Take $2: $1');
    const shown = [short, inMenu].find((name) => labelsOf(message).includes(name));
    return discord.press(shown ?? label, message);
  };

  /** A result with many files has several messages. The last one has the buttons. */
  async function resultOf(handle: InteractionHandle, files: number): Promise<Shown<StoredMessage>> {
    const first = await handle.response();
    const pages = await discord.until(() => {
      const later = discord.botMessages().filter(({ id }) => BigInt(id) >= BigInt(first.id));
      const shown = later.slice(0, later.findIndex(ends) + 1);
      return shown.flatMap(({ attachments }) => attachments).length >= files && shown.length > 0 && shown;
    }, `a result with ${files} files`);
    const last = pages.at(-1) ?? first;
    return {
      handle: last,
      text: pages.map(words).join('\n'),
      labels: labelsOf(last).map((label = '') =>
        label.replace(/^(\w+) (\d)$/, '$1 take $2').replace(/^Take (\d): (.+)$/, '$2 take $1'),
      ),
      links: buttonsOf(last).flatMap(({ url }) => (url === undefined ? [] : [url])),
      files: pages.flatMap(({ attachments }) =>
        attachments.map(({ filename, bytes }) => ({ name: filename, bytes })),
      ),
      early: earlyStateOf(first),
    };
  }

  return {
    async command(name, values, files) {
      const options = Object.fromEntries(
        Object.entries(values).map(([option, value]) => [
          option,
          isRecording(value) ? attached(value) : value,
        ]),
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
    linkTo: ({ handle }) =>
      `https://discord.com/channels/${discord.guild.id}/${handle.channelId}/${handle.id}`,
  };
}
