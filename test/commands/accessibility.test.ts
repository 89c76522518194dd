import { ComponentType } from 'discord.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../commands/ask.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { JobView } from '../../src/core/job.ts';
import type { MediaItem, Message } from '../../src/core/message.ts';
import type { Party } from '../../src/core/music/party.ts';
import { overMessage, partyMessage } from '../../src/party/message.ts';
import { type Page, renderPages } from '../../src/platforms/discord/render/pages.ts';
import { wellFormed } from '../../src/platforms/shared/text.ts';
import { type Part, render } from '../../src/platforms/slack/render/parts.ts';
import { anyMessage } from '../fixtures/message-arbitrary.ts';
import { DISCORD } from '../servers/discord/index.ts';
import { SLACK } from '../servers/slack/limits.ts';
import { MODERATOR, openStudio, type Studio } from './song/world.ts';

const onDiscord = (message: Message): Promise<Page[]> =>
  renderPages(message, {
    fileBytes: 10_000_000,
    link: () => 'https://bot.example/files/a?signature=b',
  });

/** Renders with every stored image uploaded. */
const onSlack = async (message: Message): Promise<readonly Part[]> => {
  const uploads = (message.media ?? []).flatMap(({ kind, source }) =>
    kind === 'image' && source.type === 'stored' ? [[source.file.name, 'F1'] as const] : [],
  );
  const pictures = new Map(uploads);
  return (await render(message, { person: 'U0ADA', pictures, hasCards: true })).parts;
};

const AUDIO = { name: 'hum.wav', url: 'https://cdn.example/hum.wav', contentType: 'audio/wav' };
const MODERATING = { person: MODERATOR };
const TABLE =
  'Here:\n\n| Name | Age |\n|---|---|\n| Ada | 36 |\n\n- a list\n\n  | only |\n  |---|\n  | one |\n';

/** Messages of every command, every song button, and every kind of answer. */
async function everyMessage(studio: Studio): Promise<Message[]> {
  const replies: Message[] = [];
  const finish = async (outcome: Outcome): Promise<Message> => {
    if (outcome.type === 'accepted') return studio.finish(outcome);
    if (outcome.type === 'message') replies.push(outcome.message);
    return outcome.type === 'message' ? outcome.message : {};
  };
  const run = async (command: string, options = {}, more = {}) =>
    finish(await studio.ask(command, options, more));
  const song = await run('song', { prompt: 'a tune for rain', style: 'lofi' });
  await run('song', { prompt: 'hills', instrumental: true });
  for (const label of ['WAV take 1', 'Music video take 2', 'Karaoke take 1', 'Cover art', 'Lyrics', 'Again'])
    await finish(await studio.press(song, label));
  for (const label of ['Extend take 1', 'Stems take 1', 'Change'])
    await finish(await studio.fill(song, label));
  await finish(await studio.fill(song, 'Save voice take 1', { name: 'Rainy' }));
  await finish(await studio.fill(song, 'Save voice take 1', { name: 'Rainy' }).catch(() => ({}) as Outcome));
  await run('stems', { split: 'all' });
  await run('lyrics', { topic: 'rain' });
  for (const mode of ['cover', 'extend', 'vocals', 'instrumental'])
    await run('remix', { audio: AUDIO, mode, prompt: 'la la', style: 'brass' });
  const image = await run('image', { prompt: 'a fox', size: 'wide' });
  await finish(await studio.fill(image, 'Animate', { duration: '10' }));
  await run('video', { prompt: 'waves', duration: '5' });
  await run('song', { earlier: 'take 1' });
  for (const command of ['jobs', 'voices', 'minstrel', 'models', 'limits', 'pages', 'party'])
    await run(command, {}, MODERATING);
  await run('limits', { days: 30 }, { ...MODERATING, subcommand: 'report' });
  await run('song', { prompt: 'a tune', lyrics: 'la', instrumental: true });
  return [
    ...studio.world.platform.history,
    ...studio.world.platform.privateMessages,
    ...replies,
    ...answers(),
    ...parties(),
  ];
}

/** Answers with a table, images and commands. */
function answers(): Message[] {
  const file = { name: 'a.png', bytes: 10, contentType: 'image/png' };
  const job = (answer: object, images: object[] = []) =>
    ({
      id: 'job1',
      command: 'ask',
      title: '“Who is old?”',
      person: { id: 'ada', displayName: 'Ada' },
      work: { route: 'answer', dialect: 'chat', request: { model: 'small', turns: [] } },
      result: { songs: [], lyrics: [], stems: [], images, answer },
    }) as unknown as JobView;
  const calls = [{ command: 'song', given: 'prompt: rain', outcome: 'started' }];
  return [
    job({ text: TABLE }),
    job({ text: 'Look.', calls }, [
      { type: 'stored', file },
      { type: 'stored', file: { ...file, name: 'b.png' } },
    ]),
  ].flatMap((answer) => [ask.done?.(answer) ?? {}, ask.early?.(answer) ?? {}]);
}

/** Messages of a party in different states. */
function parties(): Message[] {
  const song = {
    id: 'p1',
    job: 'j1',
    index: 0,
    title: 'Rain',
    seconds: 100,
    by: { id: 'ada', displayName: 'Ada' },
  };
  const party: Party = {
    id: 'p',
    guild: 'guild',
    channel: 'lounge',
    address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
    current: song,
    queue: [song, song],
    round: 1,
    position: { seconds: 0, at: 0, moves: true },
    paused: false,
    loop: 'song',
    radio: false,
    votes: ['bo'],
  };
  const playback = { seconds: 12, isSpeakable: true, listeners: ['ada', 'bo'], line: 'Rain on the roof' };
  const { current: _, ...idle } = party;
  return [
    partyMessage(party, playback),
    partyMessage({ ...party, paused: true }, playback),
    partyMessage(party, { ...playback, listeners: [] }),
    partyMessage(party, { ...playback, isSpeakable: false }),
    partyMessage(idle, playback),
    overMessage('It was stopped.', { isShown: true }),
  ];
}

const isVisual = ({ kind }: MediaItem) => kind === 'image' || kind === 'video';
const duplicates = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index);

/** Labels of all buttons and menu entries on Discord. */
const namesOnDiscord = (pages: readonly Page[]): string[] =>
  pages.flatMap(({ components }) =>
    components.flatMap((row) =>
      row.components.flatMap((component) => {
        if (component.type === ComponentType.StringSelect) return component.options.map(({ label }) => label);
        return 'label' in component ? [component.label ?? ''] : [];
      }),
    ),
  );

type SpokenLabel = { readonly name: string; readonly longest: number };

/** Labels that screen readers read for buttons and menus on Slack. */
const labelsOnSlack = (parts: readonly Part[]): SpokenLabel[] =>
  parts.flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      if (block.type !== 'actions') return [];
      return block.elements.flatMap((element): SpokenLabel[] => {
        if (element.type === 'button')
          return [{ name: element.accessibility_label ?? element.text.text, longest: SLACK.buttonText }];
        if (element.type !== 'overflow' && element.type !== 'static_select') return [];
        const groups = element.type === 'static_select' ? (element.option_groups ?? []) : [];
        // Screen readers read the name of a group before its options.
        return [
          ...(element.options ?? []).map(({ text }) => ({ name: text.text, longest: SLACK.optionText })),
          ...groups.flatMap(({ label, options }) =>
            options.map(({ text }) => ({
              name: `${label.text}: ${text.text}`,
              longest: 2 * SLACK.optionText + 2,
            })),
          ),
        ];
      });
    }),
  );

/** The alternative text of each image on Slack. */
const altsOnSlack = (parts: readonly Part[]): string[] =>
  parts.flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      const accessory = block.type === 'section' ? block.accessory : undefined;
      if (block.type === 'image') return [block.alt_text];
      if (block.type === 'card') return [block.hero_image?.alt_text ?? ''];
      return accessory?.type === 'image' ? [accessory.alt_text] : [];
    }),
  );

async function expectDescribed(message: Message): Promise<void> {
  for (const { files } of await onDiscord(message))
    for (const { alt = '', source } of files) {
      const item = message.media?.find(
        (media) =>
          source.type === 'stored' &&
          [media.source, media.smaller?.source].some(
            (candidate) => candidate?.type === 'stored' && candidate.file.name === source.file.name,
          ),
      );
      if (item && isVisual(item) && (item.alt ?? item.name).trim() !== '') expect(alt.trim()).not.toBe('');
      expect(alt.length).toBeLessThanOrEqual(DISCORD.attachmentDescription);
    }
  for (const alt of altsOnSlack(await onSlack(message))) expect(alt.trim()).not.toBe('');
}

async function expectDistinctNames(message: Message): Promise<void> {
  expect(duplicates(namesOnDiscord(await onDiscord(message)))).toEqual([]);
  const labels = labelsOnSlack(await onSlack(message));
  expect(duplicates(labels.map(({ name }) => name))).toEqual([]);
  for (const { name, longest } of labels) {
    expect(name.trim()).not.toBe('');
    expect(name.length).toBeLessThanOrEqual(longest);
  }
}

describe('every message of the bot', () => {
  let studio: Studio;
  let messages: Message[] = [];
  beforeAll(async () => {
    studio = await openStudio();
    messages = await everyMessage(studio);
  });
  afterAll(() => studio[Symbol.asyncDispose]());

  /** Fails if too few messages match, so that no test passes on an empty list. */
  function select(matches: (message: Message) => boolean, atLeast: number): Message[] {
    const selected = messages.filter(matches);
    expect(selected.length).toBeGreaterThanOrEqual(atLeast);
    return selected;
  }

  it('describes images and videos with the words of the request', async () => {
    for (const message of select(({ media = [] }) => media.some(isVisual), 8)) {
      await expectDescribed(message);
      for (const { alt = '' } of (message.media ?? []).filter(isVisual))
        expect(alt).toMatch(/rain|hills|fox|waves|hum|Who is old|days|Rain/);
    }
    const covers = messages.flatMap(({ media = [] }) => media.filter(({ cover }) => cover));
    expect(covers.map(({ alt }) => alt)).toContainEqual(
      expect.stringMatching(/^Cover of .+\. Prompt: a tune for rain\. Style: lofi$/),
    );
  });

  it('gives buttons distinct labels for screen readers', async () => {
    for (const message of select(({ actions = [] }) => actions.length > 1, 12)) {
      await expectDistinctNames(message);
      for (const { label } of message.actions ?? []) expect(label).toMatch(/\p{L}/u);
      const [label] = labelsOnSlack(await onSlack(message));
      if (message.title) expect(label?.name).toContain(': ');
    }
  });

  it('uses words in addition to emoji and colours', async () => {
    const emoji = /\p{Extended_Pictographic}/u;
    for (const message of messages) {
      const texts = [message.title, message.text, message.footer, message.progress?.stage];
      const lines = texts.flatMap((text = '') => text.split('\n')).filter((line) => emoji.test(line));
      for (const line of lines) expect(line).toMatch(/\p{L}{2}/u);
      for (const button of message.actions ?? [])
        if (button.type === 'action' && button.emphasis) expect(button.label).toMatch(/\p{L}{2}/u);
    }
  });

  it('has text next to songs and videos', () => {
    const hasSound = ({ kind }: MediaItem) => kind === 'audio' || kind === 'video';
    for (const message of select(({ media = [] }) => media.some(hasSound), 8))
      expect(message.title ?? message.text ?? '').toMatch(/\p{L}{3}/u);
    const actionsOf = (pattern: RegExp) =>
      messages.filter(({ title = '' }) => pattern.test(title)).map(({ actions = [] }) => actions);
    const recordings = [...actionsOf(/^Music video for/), ...actionsOf(/^WAV of/)];
    expect(recordings.length).toBeGreaterThan(1);
    for (const actions of recordings.filter((list) => list.some(({ label }) => label === 'Again')))
      expect(actions.map(({ label }) => label)).toContain('Lyrics');
  });

  it('includes all content in the text for screen readers on Slack', async () => {
    for (const message of select(({ title, fields = [] }) => title !== undefined && fields.length > 0, 10)) {
      const [first] = await onSlack(message);
      const text = first?.text ?? '';
      if (text.length > 1_500) continue;
      expect(text).toContain(message.title?.slice(0, 40).replaceAll('&', '&amp;'));
      for (const { name } of message.fields ?? []) expect(text).toContain(name.replaceAll('&', '&amp;'));
      for (const { alt } of (message.media ?? []).filter(isVisual)) expect(text).toContain(alt);
    }
  });
});

describe('any message', () => {
  it('describes each image and gives each button a distinct label', async () => {
    await fc.assert(
      // Lone surrogates are removed.
      fc.asyncProperty(anyMessage.map(wellFormed), async (message) => {
        await expectDescribed(message);
        const labels = (message.actions ?? []).map(({ label }) => label);
        // Truncated labels may be equal.
        if (
          labels.every((label) => label.trim() !== '' && label.length < 30 && !/[@<>\\`*_~|\n]/.test(label))
        )
          await expectDistinctNames({ ...message, title: 'Rain' });
      }),
    );
  });

  it('numbers buttons with equal labels and different actions', async () => {
    const button = fc.record({
      type: fc.constant('action' as const),
      id: fc.nat(20).map((index) => `song.do:j:${index}`),
      label: fc.constantFrom('Go', 'Go on', ' Go '),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(button, { maxLength: 20 }), async (buttons) => {
        const actions = buttons.filter(
          ({ id }, index) => buttons.findIndex((other) => other.id === id) === index,
        );
        await expectDistinctNames({ title: 'Rain', actions });
      }),
      { numRuns: 30 },
    );
  });

  it('announces the columns of each table', async () => {
    const cell = fc.stringMatching(/^[a-z]{1,8}$/);
    const table = fc.array(cell, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(table, async (columns) => {
        const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
        const text = [row(columns), row(columns.map(() => '---')), row(columns)].join('\n');
        const sentence = new RegExp(`Table with columns? ${columns.join(', ')}:\n+(?:\`\`\`|\\|)`);
        const [page] = await onDiscord({ text });
        expect(page?.content).toMatch(sentence);
        const [block] = (await onSlack({ text }))[0]?.blocks ?? [];
        expect(block?.type === 'markdown' ? block.text : '').toMatch(sentence);
      }),
      { numRuns: 20 },
    );
    const nested = await onSlack({ text: TABLE });
    expect(JSON.stringify(nested).match(/Table with column/g)).toHaveLength(2);
  });
});
