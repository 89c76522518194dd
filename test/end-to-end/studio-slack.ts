/** A person on the double of Slack, through the real Bolt. */
import { elementsOf } from '../servers/slack/blocks.ts';
import { asFields, asList, asText } from '../servers/slack/json.ts';
import { readableText } from '../servers/slack/mentions.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { isRecording, type Shown, type StudioPerson, type Values } from './studio-chain.ts';

const CHANNEL = 'C0MUSIC';
type Message = ReturnType<SlackServer['botMessages']>[number];

/** Options of a menu with the name of their group, such as `WAV take 1`. */
function optionsOf(each: unknown) {
  const { label, options } = asFields(each);
  const group = asText(asFields(label).text)?.toLowerCase();
  return asList(options)
    .map(asFields)
    .map((option) => ({ ...option, text: { text: `${asText(asFields(option.text).text)} ${group}` } }));
}

/** Returns buttons and menu options. */
const buttonsOf = ({ blocks }: Pick<Message, 'blocks'>) =>
  blocks
    .flatMap((block) => elementsOf(block))
    .flatMap((element) => [
      element,
      ...asList(element.options),
      ...asList(element.option_groups).flatMap(optionsOf),
    ])
    .map(asFields)
    .filter(({ type = 'option' }) => type === 'button' || type === 'option');
/** The accessible name without its subject, or the visible label. */
const labelOf = (button: ReturnType<typeof asFields>) =>
  (asText(button.accessibility_label) ?? asText(asFields(button.text).text) ?? '').replace(/: .*$/s, '');
const ends = (message: Message) =>
  buttonsOf(message).some((button) => ['Again', 'Sing with it'].includes(labelOf(button)));

export function personOnSlack(slack: SlackServer): StudioPerson<Message> {
  function filesOf(message: Message) {
    return [message, ...slack.thread(message)].flatMap(({ files, blocks }) => [
      ...files.map(({ title, name, bytes }) => ({ name: title || name, bytes: new Uint8Array(bytes) })),
      ...[...JSON.stringify(blocks).matchAll(/"slack_file":\{"id":"(\w+)"/g)].flatMap(([, id = '']) => {
        const file = slack.workspace.files.get(id);
        return file ? [{ name: file.title || file.name, bytes: new Uint8Array(file.bytes) }] : [];
      }),
    ]);
  }

  const inChannel = () => slack.botMessages(CHANNEL).filter(({ threadTs }) => threadTs === undefined);

  /** Resolves to the next message in the channel once it is a result with the given number of files. */
  async function nextResult(act: () => Promise<unknown>, files: number): Promise<Shown<Message>> {
    const before = inChannel().length;
    await act();
    const message = await slack.until(() => {
      const next = inChannel()[before];
      return next && ends(next) && filesOf(next).length >= files ? next : undefined;
    });
    const endIndex = message.revisions.findIndex(({ blocks }) => ends({ ...message, blocks }));
    return {
      handle: message,
      text: [message, ...slack.thread(message)].map(readableText).join('\n'),
      labels: buttonsOf(message).map(labelOf),
      links: buttonsOf(message).flatMap(({ url }) => asText(url) ?? []),
      files: filesOf(message),
      early: {
        words: message.revisions.slice(0, endIndex).map(readableText).join('\n'),
        // Files are shared together, but the first take was shared earlier.
        takes: slack.thread(message)[0]?.files.length ?? 0,
      },
    };
  }

  async function openForm(act: () => Promise<unknown>) {
    const previousView = slack.openView('U0ADA')?.id;
    await act();
    const form = await slack.until(() => {
      const view = slack.openView('U0ADA');
      return view && view.id !== previousView ? view : undefined;
    });
    const hasMore = () => JSON.stringify(form.view).includes('More options');
    if (hasMore()) await slack.pressInView(form, 'More options');
    return slack.until(() => (hasMore() ? undefined : form));
  }

  function formValues(values: Values) {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        isRecording(value)
          ? [slack.upload(value.name, value.bytes, { mimetype: 'audio/wav' })]
          : value === true
            ? ['true']
            : String(value),
      ]),
    );
  }

  return {
    async command(name, values, files) {
      if (Object.values(values).some(isRecording)) {
        const form = await openForm(() => slack.slash(`/${name}`, ''));
        return nextResult(() => slack.submitView(form, formValues(values)), files);
      }
      const typed = Object.entries(values).map(([option, value]) => `--${option} "${value}"`);
      return nextResult(() => slack.slash(`/${name}`, typed.join(' ')), files);
    },
    press: ({ handle }, label, files) => nextResult(() => slack.press(handle, label), files),
    async fill({ handle }, label, values, files) {
      const form = await openForm(() => slack.press(handle, label));
      return nextResult(() => slack.submitView(form, formValues(values)), files);
    },
    async pressQuietly({ handle }, label) {
      const before = slack.ephemeralsOf('U0ADA').length;
      await slack.press(handle, label);
      return readableText(await slack.until(() => slack.ephemeralsOf('U0ADA')[before]));
    },
    async suggest(name, option, typed) {
      const form = await openForm(() => slack.slash(`/${name}`, ''));
      const suggestions = await slack.suggest(form, option, typed);
      return suggestions.map(({ text, value }) => ({ name: text, value }));
    },
    linkTo: ({ handle }) => `https://minstrel.slack.com/archives/${CHANNEL}/p${handle.ts.replace('.', '')}`,
  };
}
