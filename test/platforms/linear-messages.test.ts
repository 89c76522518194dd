/** No part of a message, form or event blocks the event loop, however hostile. See also linear-text.test.ts. */
import { ApplicationCommandOptionType, ComponentType } from 'discord.js';
import { describe } from 'vitest';
import type { Message } from '../../src/core/message.ts';
import type { Form, OptionDeclarations } from '../../src/core/options.ts';
import { isSameSecret } from '../../src/core/web/signatures.ts';
import { callbackUrl } from '../../src/http/music-callback.ts';
import { albumDocument } from '../../src/http/pages/album.ts';
import { sentencePage } from '../../src/http/pages/layout.ts';
import { songDocument } from '../../src/http/pages/song.ts';
import { createGuard } from '../../src/http/playground/guard.ts';
import { isOwnNetwork } from '../../src/http/server.ts';
import { multipartOf } from '../../src/platforms/discord/connection/multipart.ts';
import { nonceOf } from '../../src/platforms/discord/connection/rest.ts';
import { textSending } from '../../src/platforms/discord/deliver/payload.ts';
import { contentOf } from '../../src/platforms/discord/receive/content.ts';
import { textOfBot } from '../../src/platforms/discord/receive/history.ts';
import { messageContentSchema } from '../../src/platforms/discord/receive/incoming-message.ts';
import { commandOptions, personOf } from '../../src/platforms/discord/receive/invocation.ts';
import { modalOrReason, openFormButton, optionsOfForm } from '../../src/platforms/discord/receive/modal.ts';
import { renderButtons } from '../../src/platforms/discord/render/buttons.ts';
import { renderCard } from '../../src/platforms/discord/render/card.ts';
import { renderPages } from '../../src/platforms/discord/render/pages.ts';
import { optionHelp } from '../../src/platforms/shared/command-line.ts';
import { addField } from '../../src/platforms/shared/form-text.ts';
import { parseOptions } from '../../src/platforms/shared/parse.ts';
import { buttonTarget, formTarget } from '../../src/platforms/shared/target.ts';
import { fits, typedChoice, typedValue } from '../../src/platforms/shared/values.ts';
import { statusOf } from '../../src/platforms/slack/connection/agent-sessions.ts';
import { sdkLogger } from '../../src/platforms/slack/connection/client.ts';
import { digestOf } from '../../src/platforms/slack/deliver/writer.ts';
import { addressesSomeoneElse, mentionsPeople } from '../../src/platforms/slack/receive/incoming-message.ts';
import { viewOf } from '../../src/platforms/slack/receive/open-form.ts';
import { homeView, pressedForm, readHomeChannels } from '../../src/platforms/slack/render/home.ts';
import { fileReference, formOptions, readMetadata } from '../../src/platforms/slack/render/modal.ts';
import { render } from '../../src/platforms/slack/render/parts.ts';
import { summaryOf } from '../../src/platforms/slack/render/text.ts';
import { optionWithSlackTerms } from '../../src/platforms/slack/words.ts';
import {
  completeRows,
  readableMarkdown,
  renderParts,
  renderProgress,
} from '../../src/platforms/terminal/render.ts';
import { webRequestSchema } from '../../src/platforms/web/receive/requests.ts';
import { renderForWeb } from '../../src/platforms/web/render/convert.ts';
import { testLinear } from '../linear-text.ts';

const OPTIONS = {
  text: { type: 'text', description: 'Text', multiline: true },
  who: { type: 'text', description: 'Who', mention: true },
  count: { type: 'number', description: 'How many' },
  loud: { type: 'flag', description: 'Loud' },
  size: { type: 'choice', description: 'Size', choices: [{ name: 'Large', value: 'l' }] },
  file: { type: 'file', description: 'A file', accept: ['text'], maximumBytes: 1e6 },
} as const satisfies OptionDeclarations;
const formWith = (text: string): Form => ({
  id: 'odd',
  title: text,
  submitLabel: 'Go',
  options: OPTIONS,
  initial: { text },
});

const ignore = () => undefined;
const NO_GUILDS = { channelName: ignore, roleName: ignore, botRole: () => false };
const LOG = { debug: ignore, info: ignore, warn: ignore, error: ignore };

describe('options and forms are parsed in linear time', () => {
  testLinear({
    'options by position': (text) =>
      parseOptions({ name: 'odd', options: OPTIONS, positional: true }, `large ${text}`),
    'a number with many groups': (text) =>
      parseOptions({ name: 'odd', options: OPTIONS }, `--count 1${text}`),
    'a typed choice': (text) => typedValue('size', OPTIONS.size, text, ''),
    'a typed number': (text) => typedValue('count', OPTIONS.count, text, ''),
    'a typed address': (text) => typedValue('file', OPTIONS.file, `https://a.example/${text}`, ''),
    fits: (text) => Object.values(OPTIONS).map((option) => fits(option, text)),
    typedChoice: (name) => typedChoice({ name, value: 'a' }),
    optionHelp: (description) => optionHelp('a', { type: 'text', description }),
    addField: (text) => addField({ a: text }, 'a:word2', text),
    buttonTarget: (text) => buttonTarget(`song.again:${text}`),
    formTarget,
  });
});

describe("Discord's events and forms are parsed in linear time", () => {
  testLinear({
    'a command': (value) =>
      commandOptions(
        [
          { name: 'text', type: ApplicationCommandOptionType.String, value, focused: true },
          { name: 'who', type: ApplicationCommandOptionType.Mentionable, value },
        ],
        '7',
      ),
    'a submitted form': (value) =>
      optionsOfForm(
        ['text', 'count:number'].map((id) => [id, { type: ComponentType.TextInput, value }] as const),
      ),
    'a form': (text) => modalOrReason(formWith(text)),
    'the button of a form': (text) => openFormButton(formWith(text)),
    'a message from a person': (content) =>
      contentOf(messageContentSchema.parse({ content }), { guilds: NO_GUILDS, self: '111222333444555666' }),
    'a message from the bot': (content) => textOfBot({ content, embeds: [] }),
    'the name of a person': (nick) => personOf({ id: '1', displayName: 'ada' }, { nick, roles: [] }, false),
    'a request': (text) => multipartOf(textSending(text), []),
    nonceOf,
  });
});

describe("Slack's events and forms are parsed in linear time", () => {
  testLinear({
    'a form': (text) =>
      viewOf(formWith(text), { address: { platform: 'slack', channel: 'C1', person: 'U0ADA' } }),
    'a submitted form': (value) =>
      formOptions({
        text: { text: { type: 'plain_text_input', value } },
        count: { count: { type: 'number_input', value } },
      }),
    'a file': (name) => fileReference({ name, url_private: name, mimetype: name }),
    readMetadata,
    readHomeChannels,
    pressedForm: (text) => pressedForm(`form:${text}`),
    addressesSomeoneElse: (text) => addressesSomeoneElse({ text }),
    mentionsPeople: (text) => mentionsPeople({ text }),
    optionWithSlackTerms: (description) => optionWithSlackTerms({ type: 'text', description }),
    statusOf: (stage) => statusOf({ stage, startedAt: 0 }, 9),
    'a log line of the SDK': (text) => sdkLogger(LOG).warn(text),
    digestOf,
  });
});

/** Other parts of a message are shorter than its text: titles have up to 1,000 characters, options up to 3,000. */
const part = (text: string): string => text.slice(0, 4_000);
const KEPT = { name: 'k', bytes: 9, contentType: 'image/png' };

/** A message with the text in one of its parts. */
const MESSAGES: Readonly<Record<string, (text: string) => Message>> = {
  text: (text) => ({ text, conversation: true, feedback: { good: 'a', bad: 'b' } }),
  title: (text) => ({ title: part(text) }),
  fact: (text) => ({ fields: [{ name: part(text), value: part(text) }] }),
  footer: (text) => ({ footer: part(text) }),
  stage: (text) => ({ title: 'A song', progress: { stage: part(text), startedAt: 0, until: 9 } }),
  'name of a file': (name) => ({ media: [{ kind: 'image', name, source: { type: 'stored', file: KEPT } }] }),
  'description of an image': (text) => ({
    title: 'a',
    media: [
      { kind: 'image', name: 'a', alt: part(text), cover: true, source: { type: 'stored', file: KEPT } },
      { kind: 'image', name: 'b', caption: part(text), source: { type: 'remote', url: 'https://a.example' } },
    ],
  }),
  'address of a file': (text) => ({
    media: [{ kind: 'video', name: 'a', source: { type: 'remote', url: `https://a.example/${part(text)}` } }],
  }),
  button: (text) => ({
    title: 'a',
    actions: [
      { type: 'action', id: 'song.again:j:0', label: part(text) },
      { type: 'link', url: `https://a.example/${part(text)}`, label: part(text) },
    ],
  }),
};
const link = () => 'https://bot.example/a';
const terminal = { style: (_: unknown, text: string) => text, numberOf: () => 1, savedAs: () => 'a' };

describe.each(Object.entries(MESSAGES))('the %s of a message is rendered in linear time', (_, messageOf) => {
  testLinear({
    'on Discord': (text) => renderPages(messageOf(text), { fileBytes: 1e7, link }),
    'on Discord, without a file': (text) =>
      renderPages(messageOf(text), { fileBytes: 1e7, link, textFile: false }),
    'in a Discord card': (text) => {
      const message = messageOf(text);
      return [renderCard(message, []), renderButtons(message.actions ?? [])];
    },
    'on Slack': (text) =>
      render(messageOf(text), {
        person: 'U0ADA',
        links: link,
      }),
    'in a Slack notification': (text) => summaryOf(messageOf(text), { person: 'U0ADA' }),
    "on Slack's Home tab": (text) =>
      homeView({
        sections: [messageOf(text)],
        shown: { direct: 'D1' },
        answer: undefined,
        options: { person: 'U0ADA' },
      }),
    'in the terminal': (text) => [
      renderParts(messageOf(text), terminal),
      renderProgress(messageOf(text), terminal),
    ],
    'on the web': (text) => renderForWeb(messageOf(text), 'ada'),
  });
});

const file = { name: 'a.mp3', bytes: 9, contentType: 'audio/mpeg', path: 'files/a' };
const context = { root: './', asset: (name: string) => `/assets/${name}` };
const guard = createGuard('80');

describe('pages and requests are processed in linear time', () => {
  testLinear({
    songDocument: (text) =>
      songDocument(
        {
          title: text,
          person: text,
          style: text,
          lyrics: text,
          createdAt: 0,
          takes: [{ number: 1, audio: file, lines: [], stems: [{ name: text, file }] }],
          derived: [{ title: text }],
        },
        { ...context, url: 'https://a.example', absolute: (path) => path, now: 0 },
      ),
    albumDocument: (text) =>
      albumDocument(
        { channel: text, songs: [{ title: text, person: text, audio: file, createdAt: 0 }] },
        { ...context, now: 0 },
      ),
    sentencePage: (sentence) => sentencePage({ title: 'a', sentence }, context),
    callbackUrl: (text) => callbackUrl(text, 'job', 'secret'),
    isOwnNetwork,
    isSameSecret: (text) => isSameSecret(text, text),
    guard: (text) => guard({ method: text, headers: { host: text }, socket: { remoteAddress: text } }),
    webRequest: (line) =>
      webRequestSchema.safeParse({
        type: 'line',
        person: 'a',
        channel: 'a',
        id: 'abcdefghijklmnopqr',
        uploads: [],
        line,
      }),
    readableMarkdown,
    completeRows: (text) => completeRows(text, 80),
  });
});
