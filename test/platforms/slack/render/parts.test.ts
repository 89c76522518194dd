import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Button, ICONS, type MediaItem, type Message, plain } from '../../../../src/core/message.ts';
import { render } from '../../../../src/platforms/slack/render/parts.ts';
import { codePoint } from '../../../fixtures/code-point.ts';
import { messageOfHalves } from '../../../fixtures/half-characters.ts';
import { webUrl } from '../../../fixtures/message-arbitrary.ts';
import { blockProblems, blocksLength } from '../../../servers/slack/blocks.ts';
import { SLACK } from '../../../servers/slack/limits.ts';
import { links, pings, readableText } from '../../../servers/slack/mentions.ts';

const HOSTILE = [
  '<!channel>',
  '<!here|x>',
  '<@U0ADA>',
  '<@U0ADA|ada>',
  '<!subteam^S1>',
  '&lt;!here&gt;',
  '<https://evil.example|docs>',
  '`<!everyone>`',
  '```\n<!channel>\n```',
  '*',
  '_',
  '~~',
  '|',
  '\\',
  '[a](b)',
  '# ',
  '> ',
  '- ',
  '1. ',
  '\n\n',
  '<b>',
  '&amp;',
  '🎵',
  ']]>',
  '![x](y)',
  '\ud83d',
  '[r]: http://r.s',
];

const text = (maxLength = 400) =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'grapheme' }), fc.lorem()), {
          maxLength: 12,
        })
        .map((parts) => parts.join(' ')),
    },
    { weight: 1, arbitrary: fc.string({ unit: codePoint, maxLength }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.lorem({ maxCount: 40 }), fc.integer({ min: 1, max: 60 }))
        .map(([words, times]) => `${words}\n`.repeat(times)),
    },
  );

const media: fc.Arbitrary<MediaItem> = fc.record(
  {
    kind: fc.constantFrom('audio' as const, 'image' as const, 'video' as const, 'file' as const),
    name: text(60),
    source: fc.oneof(
      fc.record({
        type: fc.constant('remote' as const),
        url: fc.oneof(webUrl, text(40)),
      }),
      fc.record({
        type: fc.constant('stored' as const),
        file: fc.record({
          name: fc.uuid(),
          bytes: fc.nat(),
          contentType: fc.string(),
        }),
      }),
    ),
    alt: text(60),
    caption: text(60),
    cover: fc.boolean(),
  },
  { requiredKeys: ['kind', 'name', 'source'] },
);

const button: fc.Arbitrary<Button> = fc.oneof(
  fc.record(
    {
      type: fc.constant('action' as const),
      id: fc.oneof(fc.constant('song.again:j:0'), fc.string({ maxLength: 300 })),
      label: text(100),
      emphasis: fc.constant('primary' as const),
      short: text(60),
      icon: fc.constantFrom(...ICONS),
      group: fc.constantFrom('Take 1', 'Take 2', ' ', 'x'.repeat(90)),
      hint: text(90),
    },
    { requiredKeys: ['type', 'id', 'label'] },
  ),
  fc.record({ type: fc.constant('link' as const), url: fc.oneof(webUrl, text(100)), label: text(100) }),
);

const message: fc.Arbitrary<Message> = fc.record(
  {
    title: text(),
    titleUrl: fc.oneof(webUrl, text(60)),
    text: text(),
    fields: fc.array(fc.record({ name: text(80), value: text() }), { maxLength: 60 }),
    media: fc.array(media, { maxLength: 30 }),
    actions: fc.array(button, { maxLength: 60 }),
    progress: fc.record(
      {
        stage: text(),
        startedAt: fc.integer(),
        queuePosition: fc.nat(),
        estimateMs: fc.nat(),
        until: fc.double(),
      },
      { requiredKeys: ['stage', 'startedAt'] },
    ),
    footer: text(),
    notify: fc.constantFrom('ready' as const, 'incomplete' as const),
  },
  { requiredKeys: [] },
);

const options = {
  person: 'U0ASKED',
  pictures: new Map(),
  links: () => 'https://files.example/x?signature=a&expires=1',
};
const rendering = (value: Message, more: object = {}) => render(value, { ...options, ...more });
/** Slack has every image, and accepts cards. */
const CARDS = { hasCards: true, pictures: { get: () => 'F1' } };
/** The visible text, without the targets of links. */
const everything = async (value: Message, more: object = {}) =>
  (await rendering(value, more)).parts
    .map((part) => readableText({ blocks: part.blocks }))
    .join('\n')
    .replace(/\]\((?:https?|mailto):[^()\s]*\)/g, ']');

/** Letters and digits only. Markup, spaces and encoded brackets may change, but words may not. */
const words = (value: string) =>
  value
    .replace(/%(?:28|29|3C|3E|5C|7C)/g, '')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]/gu, '');

describe('rendering any message', () => {
  it.each([{}, { budget: 2000 }, { bare: true }, { inThread: true }, CARDS])(
    "fits Slack's limits %j",
    async (more) => {
      await fc.assert(
        fc.asyncProperty(message, async (value) => {
          for (const part of (await rendering(value, more)).parts) {
            expect(blockProblems(part.blocks, 'message')).toEqual([]);
            expect(blocksLength(part.blocks)).toBeLessThanOrEqual(SLACK.blocksTotal);
            expect(JSON.stringify(part)).not.toMatch(/\\ud[89a-f]/);
            expect(part.text.length).toBeGreaterThan(0);
            expect(part.text.length).toBeLessThanOrEqual(SLACK.updateText);
          }
        }),
      );
    },
  );

  it.each([{}, { bare: true }, { inThread: true }, CARDS])(
    'mentions only the requester, and only with notify %j',
    async (more) => {
      await fc.assert(
        fc.asyncProperty(message, async (value) => {
          const pinged = new Set((await rendering(value, more)).parts.flatMap((part) => pings(part)));
          expect([...pinged]).toEqual(value.notify ? ['U0ASKED'] : []);
        }),
      );
    },
  );

  it.each([{}, { bare: true }, { inThread: true }, { firstOnly: true }])(
    'contains no lone surrogates, even if the input does %j',
    async (more) => {
      await fc.assert(
        fc.asyncProperty(messageOfHalves, async (input) => {
          expect(JSON.stringify(await rendering(input, more))).not.toMatch(/\\ud[89a-f]/);
        }),
        { numRuns: 30 },
      );
    },
  );

  it("creates no links from Slack's notation in the text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...HOSTILE, 'word'), { maxLength: 20 }), async (parts) => {
        const { parts: shown } = await rendering({
          text: parts.join(' '),
          title: parts.join(''),
          footer: parts.join(''),
        });
        const hidden = shown.flatMap((part) => links(part)).filter(({ label }) => label === 'docs');
        expect(hidden).toEqual([]);
      }),
    );
  });

  it('keeps Slack from turning words into links or mentions', async () => {
    const { parts } = await rendering({
      fields: [{ name: 'Style', value: '#general or rain.example' }],
      progress: { stage: 'Composing rain.example', startedAt: 1e12 },
      media: [{ kind: 'audio', name: 'rain.mp3', source: { type: 'remote', url: 'https://rain.example/a' } }],
      notify: 'ready',
    });
    const count = (sign: string) => JSON.stringify(parts).split(sign).length - 1;
    expect(count('"type":"mrkdwn"')).toBe(4);
    expect(count('"verbatim":true')).toBe(4);
  });

  it('keeps every word of plain text', async () => {
    await fc.assert(
      fc.asyncProperty(text(2000), async (value) => {
        const { textFile } = await rendering({ text: plain(value) });
        const rendered = textFile ?? (await everything({ text: plain(value) }));
        expect(words(rendered)).toContain(words(value));
      }),
    );
  });

  it('keeps every word of titles, fields and footers', async () => {
    const short = text(300).filter((value) => value.length < 8000);
    await fc.assert(
      fc.asyncProperty(short, short, short, async (title, value, footer) => {
        const rendered = words(await everything({ title, fields: [{ name: 'Name', value }], footer }));
        for (const part of [title, value, footer]) expect(rendered).toContain(words(part));
      }),
    );
  });

  it("shows the end of a wait in the reader's time zone", async () => {
    const { parts } = await rendering({
      progress: { stage: 'Asked again', startedAt: 1_700_000_000_000, until: 1_700_000_050_000 },
    });
    expect(JSON.stringify(parts)).toContain('until <!date^1700000050^{time_secs}|22:14 UTC>');
  });

  it('renders an empty message as an ellipsis', async () => {
    expect(await rendering({})).toEqual({ parts: [{ text: '…', blocks: [] }], textFile: undefined });
  });

  it('keeps the buttons in the first message of a long text', async () => {
    const long = {
      text: 'word '.repeat(4000),
      actions: [{ type: 'action' as const, id: 'ask.again:j:0', label: 'Again' }],
    };
    const { parts } = await rendering(long);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.map(({ blocks }) => blocks.some(({ type }) => type === 'actions'))).toEqual([
      true,
      ...parts.slice(1).map(() => false),
    ]);
  });

  it('turns text that is too long for messages into a file', async () => {
    const { parts, textFile } = await rendering({ text: 'word '.repeat(12_000) });
    expect(parts.length).toBeLessThanOrEqual(2);
    expect(textFile).toHaveLength(60_000);
  });

  it('puts the cover next to the fields, and other images below', async () => {
    const picture = (name: string, cover: boolean): MediaItem => ({
      kind: 'image',
      name,
      cover,
      source: { type: 'stored', file: { name, bytes: 1, contentType: 'image/png' } },
    });
    const { parts } = await rendering(
      {
        title: 'Rain',
        fields: [{ name: 'Style', value: 'lofi' }],
        media: [picture('cover.png', true), picture('b.png', false)],
      },
      {
        links: () => undefined,
        pictures: new Map([
          ['cover.png', 'F1'],
          ['b.png', 'F2'],
        ]),
      },
    );
    expect(parts[0]?.blocks).toMatchObject([
      { type: 'header', text: { text: 'Rain' } },
      { type: 'section', accessory: { type: 'image', slack_file: { id: 'F1' }, alt_text: 'cover.png' } },
      { type: 'image', slack_file: { id: 'F2' } },
    ]);
  });

  it('shows a cover in a card with the linked title and the takes, and their buttons in rows', async () => {
    const stored = (name: string) => ({
      type: 'stored' as const,
      file: { name, bytes: 1, contentType: 'x/y' },
    });
    const take = (number: number): Button[] =>
      ['extend', 'stems', 'karaoke', 'video', 'wav', 'voice'].map((action) => ({
        type: 'action',
        id: `song.${action}:j:${number}`,
        label: `${action} take ${number}`,
        short: `${action} ${number}`,
        icon: 'extend',
        group: `Take ${number}`,
        ...(['wav', 'voice'].includes(action) && { hint: 'Lossless' }),
      }));
    const song: Message = {
      title: 'Rain & sun',
      titleUrl: 'https://music.example/s/1',
      media: [
        { kind: 'image', name: 'cover', cover: true, alt: 'A cloud', source: stored('cover.png') },
        { kind: 'audio', name: 'a', caption: 'Take 1 · 0:26', source: stored('a.mp3') },
        { kind: 'audio', name: 'b', caption: 'Take 2 · 0:27', source: stored('b.mp3') },
      ],
      actions: [
        ...take(1),
        ...take(2),
        { type: 'link', url: 'https://music.example/s/1', label: 'Listen', icon: 'listen' },
        { type: 'action', id: 'song.again:j:0', label: 'Again' },
      ],
    };
    const { parts } = await rendering(song, {
      ...CARDS,
      links: () => undefined,
      pictures: new Map([['cover.png', 'F1']]),
    });
    expect(parts[0]?.blocks).toMatchObject([
      {
        type: 'card',
        hero_image: { slack_file: { id: 'F1' }, alt_text: 'A cloud' },
        title: { text: '<https://music.example/s/1|Rain &amp; sun>' },
        subtitle: { text: 'Take 1 · 0:26, Take 2 · 0:27' },
        actions: [{ text: { text: '🎧 Listen' }, url: 'https://music.example/s/1', style: 'primary' }],
      },
      { type: 'context', elements: [{ text: 'Listen in the thread.' }] },
      {
        elements: [
          { text: { text: '⏩ extend 1' }, accessibility_label: 'extend take 1: Rain & sun' },
          expect.anything(),
          expect.anything(),
          expect.anything(),
        ],
      },
      {
        elements: [
          { text: { text: '⏩ extend 2' } },
          expect.anything(),
          expect.anything(),
          expect.anything(),
        ],
      },
      {
        elements: [
          { text: { text: 'Again' } },
          {
            type: 'static_select',
            option_groups: [
              {
                label: { text: 'Take 1' },
                options: [
                  { text: { text: 'wav take 1' }, description: { text: 'Lossless' } },
                  expect.anything(),
                ],
              },
              { label: { text: 'Take 2' }, options: [{ text: { text: 'wav take 2' } }, expect.anything()] },
            ],
          },
        ],
      },
    ]);
    expect(blockProblems(parts[0]?.blocks, 'message')).toEqual([]);
  });

  it('points to the players in the thread, even if a song has a page', async () => {
    const source = { type: 'stored' as const, file: { name: 'a.mp3', bytes: 1, contentType: 'audio/mpeg' } };
    const song: Message = { title: 'Rain', media: [{ kind: 'audio', name: 'a.mp3', source }] };
    const url = 'https://music.example/s/1';
    const page: Message = { ...song, titleUrl: url, actions: [{ type: 'link', url, label: 'Listen' }] };
    const inThread = { links: () => undefined };
    expect(await everything(song, inThread)).toContain('Listen in the thread.');
    expect(await everything(page, inThread)).toContain('Listen in the thread.');
    // Slack rejected the file, so there is no player.
    expect(await everything(song)).not.toContain('in the thread');
  });
});
