import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINKED_FILES_SENTENCE, plain } from '../../../../src/core/message.ts';
import { paginate, readBlocks } from '../../../../src/platforms/discord/render/markdown.ts';
import { type Page, renderPages } from '../../../../src/platforms/discord/render/pages.ts';
import { messageOfHalves } from '../../../fixtures/half-characters.ts';
import { hostileMarkdown } from '../../../fixtures/hostile-markdown.ts';
import { anyMarkdown, anyMessage } from '../../../fixtures/message-arbitrary.ts';
import { checkComponents } from '../../../servers/discord/components.ts';
import { checkEmbeds, embedMedia } from '../../../servers/discord/embeds.ts';
import { DISCORD, liveMentions } from '../../../servers/discord/index.ts';

const OPTIONS = { fileBytes: 10_000_000, link: () => 'https://bot.example/files/a?signature=b' };

const markdownPages = async (markdown: string, limit: number) => paginate(await readBlocks(markdown), limit);

const textOf = (page: Page): string[] => [
  page.content,
  ...page.embeds.flatMap((embed) => [
    embed.title ?? '',
    embed.description ?? '',
    embed.footer?.text ?? '',
    ...(embed.fields ?? []).flatMap((field) => [field.name, field.value]),
  ]),
];

function expectWithinLimits(page: Page): void {
  expect(page.content.length).toBeLessThanOrEqual(DISCORD.content);
  checkEmbeds(page.embeds);
  checkComponents(page.components, false);
  expect(page.files.length).toBeLessThanOrEqual(DISCORD.attachments);
  const names = page.files.map((file) => file.name);
  expect(new Set(names).size).toBe(names.length);
  for (const file of page.files)
    expect((file.alt ?? '').length).toBeLessThanOrEqual(DISCORD.attachmentDescription);
  for (const url of page.embeds.flatMap((embed) => embedMedia(embed as never))) {
    if (url.startsWith('attachment://')) expect(names).toContain(url.slice('attachment://'.length));
  }
  const shown =
    page.content.trim() !== '' ||
    page.embeds.length > 0 ||
    page.components.length > 0 ||
    page.files.length > 0;
  expect(shown).toBe(true);
}

/** Counts fences: every opened fence must be closed in the same message. */
const fences = (text: string) => text.split('\n').filter((line) => line.startsWith('```')).length;

describe('rendering for Discord', () => {
  it('keeps the extension of file names in any script', async () => {
    const files = ['夜の東京.png', 'Ночь.mp3', 'Été à Paris.mp3', '.hidden', '…'].map((name, index) => ({
      kind: 'file' as const,
      name,
      source: { type: 'stored' as const, file: { name: `${index}`, bytes: 1, contentType: 'audio/mpeg' } },
    }));
    const [page] = await renderPages({ media: files }, OPTIONS);
    expect(page?.files.map(({ name }) => name)).toEqual([
      'file.png',
      'file.mp3',
      'Ete_a_Paris.mp3',
      'file.hidden',
      'file',
    ]);
    const titles = ['夜の東京', 'Ночь', 'Été à Paris', undefined, '…'];
    expect(page?.files.map(({ title }) => title)).toEqual(titles);
  });

  it('renders any message within all limits, with balanced fences and no active mentions', async () => {
    await fc.assert(
      fc.asyncProperty(anyMessage, fc.boolean(), async (message, streaming) => {
        const pages = await renderPages(message, { ...OPTIONS, streaming, threads: true, note: 'A *note*.' });
        expect(pages.length).toBeGreaterThan(0);
        for (const page of pages) {
          expectWithinLimits(page);
          const contents = { ...page, files: page.files.map(({ name, alt }) => ({ name, alt })) };
          expect(JSON.stringify(contents)).not.toMatch(/\\ud[89a-f]/);
          for (const text of textOf(page)) {
            expect(liveMentions(text)).toEqual([]);
          }
          for (const text of [page.content, ...page.embeds.map((embed) => embed.description ?? '')]) {
            expect(fences(text) % 2).toBe(0);
          }
        }
      }),
    );
  });

  it('removes lone surrogates', async () => {
    await fc.assert(
      fc.asyncProperty(messageOfHalves, fc.boolean(), async (message, streaming) => {
        for (const cards of [true, false]) {
          const pages = await renderPages(message, { ...OPTIONS, streaming, cards });
          expect(JSON.stringify(pages)).not.toMatch(/\\ud[89a-f]/);
        }
      }),
    );
  });

  it('splits any Markdown into pages within the limit', async () => {
    await fc.assert(
      fc.asyncProperty(anyMarkdown, fc.integer({ min: 100, max: 2_000 }), async (markdown, limit) => {
        for (const page of await markdownPages(markdown, limit)) {
          expect(page.length).toBeLessThanOrEqual(limit);
          expect(page.trim()).not.toBe('');
          expect(liveMentions(page)).toEqual([]);
          expect(fences(page) % 2).toBe(0);
        }
      }),
    );
  });

  it('splits long hostile text into pages within the limit', async () => {
    await fc.assert(
      fc.asyncProperty(hostileMarkdown, async (text) => {
        for (const page of await renderPages({ text }, { ...OPTIONS, textFile: false })) {
          expectWithinLimits(page);
          expect(liveMentions(page.content)).toEqual([]);
        }
      }),
      { numRuns: 5 },
    );
  });

  it('keeps every word whole in all kinds of Markdown', async () => {
    const shapes = [
      '%',
      '# %',
      '#### %',
      '- %',
      '1. %',
      '> %',
      '**%**',
      '*%* %',
      '~~%~~',
      '`%`',
      '```ts\n%\n%\n```',
      '| % | % |\n|---|---|\n| % | % |',
      '[%](https://example.org/a_b)',
      '<i>%</i>',
      '- %\n  - %\n    ```\n    %\n    ```',
      '> - %\n>\n> %',
      '% %\n%',
      '_%_ **% *%***',
    ];
    const document = fc.array(fc.tuple(fc.constantFrom(...shapes), fc.integer({ min: 1, max: 60 })), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(document, fc.integer({ min: 120, max: 2_000 }), async (parts, limit) => {
        let count = 0;
        const word = () => {
          count += 1;
          return `w${count}w`;
        };
        const markdown = parts
          .map(([shape, words]) => shape.replace(/%/g, () => Array.from({ length: words }, word).join(' ')))
          .join('\n\n');
        const written = (await markdownPages(markdown, limit)).join('\n');
        expect(new Set(written.match(/w\d+w/g) ?? []).size).toBe(count);
      }),
    );
  });

  it('keeps titles, fields, captions and footers that are too long for a card', async () => {
    const words = (letter: string, length: number) =>
      Array.from({ length }, (_, n) => `${letter}${n}`).join(' ');
    const message = {
      title: words('t', 90),
      text: words('x', 700),
      fields: [{ name: words('n', 80), value: words('v', 300) }],
      footer: words('f', 400),
      progress: { stage: words('s', 200), startedAt: 0 },
      media: [
        {
          kind: 'image' as const,
          name: 'a.png',
          source: { type: 'stored' as const, file: { name: 'k', bytes: 5, contentType: 'image/png' } },
          caption: words('c', 100),
        },
      ],
    };
    const shown = (await renderPages(message, OPTIONS))
      .flatMap((page) => [
        ...textOf(page),
        ...page.files.map((file) => (file.source.type === 'text' ? file.source.text : '')),
      ])
      .join(' ');
    for (const [letter, length] of Object.entries({ t: 90, x: 700, n: 80, v: 300, f: 400, s: 200, c: 100 })) {
      for (let n = 0; n < length; n += 1) expect(shown).toContain(`${letter}${n}`);
    }
  });

  it.each([
    ['bold and italic', 'a **b** *c* ***d***', 'a **b** *c* ***d***'],
    ['a word with underscores', 'snake_case_name', 'snake\\_case\\_name'],
    [
      'plain text from people',
      plain('1. *not* a _list_ | @here'),
      '1\\. \\*not\\* a \\_list\\_ \\| @\u200bhere',
    ],
    ['a deep heading', '##### Deep', '**Deep**'],
    [
      'a link without its preview',
      '[the docs](https://example.org/a)',
      '[the docs](<https://example.org/a>)',
    ],
    ['a bare address', 'see https://example.org/a_b', 'see <https://example.org/a_b>'],
    ['an address with an unsafe scheme', '[x](javascript:alert(1))', 'x (javascript:alert(1))'],
    ['nested lists', '- a\n  - b\n- c', '- a\n  - b\n- c'],
    ['a task list', '- [x] done\n- [ ] open', '- ☑ done\n- ☐ open'],
    [
      'a small table',
      '| a | bb |\n|---|---|\n| 1 | 2 |',
      'Table with columns a, bb:\n```\na  bb\n-  --\n1  2\n```',
    ],
    ['code with a language', '```js\nlet x;\n```', '```js\nlet x;\n```'],
    ['code that contains a fence', '````\na\n```\nb\n````', '```\na\n`\u200b``\nb\n```'],
    ['a quote of two paragraphs', '> a\n>\n> b', '> a\n> b'],
    ['a spoiler', '||secret||', '\\|\\|secret\\|\\|'],
    ['words that look like a definition', '[Verse]: sunlight', '\\[Verse\\]: sunlight'],
    [
      'a referenced definition',
      '[a][r]\n\n[r]: https://r.example/',
      '[a](<https://r.example/>)\n\n[r](<https://r.example/>): <https://r.example/>',
    ],
    [
      'an unreferenced definition',
      '[1]: https://e.example/a_b',
      '[1](<https://e.example/a_b>): <https://e.example/a_b>',
    ],
    [
      'bold beside Chinese punctuation',
      '**「强调」**这个，**注意：**请看',
      '**「强调」**这个，**注意：**请看',
    ],
    ['mail addresses', 'a@b.example and <c@d.example>', 'a@b.example and c@d.example'],
    [
      'a label that is another address',
      '[www.b.example](https://e.example)',
      'www.b.example <https://e.example/>',
    ],
    ['special characters before code and spaces', 'a<`b` and 5 < 6 @ home', 'a<`b` and 5 < 6 @ home'],
    ['a mention split in two', '[@](a:b)everyone', '@ (a:b)everyone'],
    [
      'a wide table in a list, row by row',
      `- |${'a'.repeat(80)}|b|\n  |-|-|\n  |1|2|\n  |3|4|`,
      `- **${'a'.repeat(80)}**: 1\n  **b**: 2\n\n  **${'a'.repeat(80)}**: 3\n  **b**: 4`,
    ],
    ['tags', 'a <b>b</b>', 'a <b>b</b>'],
    ['code with mentions', '`@everyone <@12345>`', '`@everyone <@12345>`'],
    ['code with a backtick', '`` a`b ``', '``a`b``'],
    [
      'a small table with a link and wide letters',
      '| a | b |\n|-|-|\n| [docs](https://e.example/) | 字字 |\n| <https://f.example> | x |',
      'Table with columns a, b:\n```\na                  b\n-----------------  ----\ndocs               字字\nhttps://f.example  x\n```\n[docs](<https://e.example/>)',
    ],
    [
      'a numbered item that starts with a code block',
      '1. ```js\n   x\n   ```\n2. b',
      '1.\n```js\nx\n```\n2. b',
    ],
    ['a footnote in another script', 'a[^注]\n\n[^注]: wide', 'a\\[^注\\]\n\n\\[^注\\]: wide'],
    ['an escaped backtick', '\\`not code\\`', '\\`not code\\`'],
  ])('writes %s', async (_, markdown, expected) => {
    expect(await markdownPages(markdown, 2_000)).toEqual([expected]);
  });

  it('closes a fence at the end of a message and reopens it in the next', async () => {
    const code = Array.from({ length: 100 }, (_, line) => `line ${line} of the code`).join('\n');
    const pages = await markdownPages(`Before\n\n\`\`\`ts\n${code}\n\`\`\`\n\nAfter`, 1_000);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages.slice(1)) expect(page).toMatch(/^```ts\n/);
    const codeParts = pages.map((page) =>
      page
        .replace(/^Before\n\n/, '')
        .replace(/\n\nAfter$/, '')
        .replace(/^```ts\n|\n```$/g, ''),
    );
    expect(codeParts.join('\n')).toBe(code);
  });

  it('turns a text longer than a few messages into a file, and shows its start', async () => {
    const text = Array.from({ length: 3_000 }, (_, word) => `word${word}`).join(' ');
    const pages = await renderPages(
      { text, actions: [{ type: 'action', id: 'ask.again:j:0', label: 'Again' }] },
      OPTIONS,
    );
    expect(pages).toHaveLength(1);
    expect(pages[0]?.content).toMatch(/^word0 word1 .*\n-# The full text is attached\.$/s);
    expect(pages[0]?.files).toMatchObject([{ name: 'answer.md', source: { type: 'text', text } }]);
    expect(pages[0]?.components).toHaveLength(1);
  });

  it('shows a short answer in a card, and a long one below its title', async () => {
    const message = (words: number) => ({
      title: 'Why?',
      text: Array.from({ length: words }, (_, n) => `word${n}`).join(' '),
      footer: 'gpt · 12 tokens',
    });
    const [card] = await renderPages(message(300), OPTIONS);
    expect(card?.embeds).toMatchObject([{ title: 'Why?', footer: { text: 'gpt · 12 tokens' } }]);
    const pages = await renderPages(message(600), OPTIONS);
    expect(pages).toHaveLength(3);
    expect(pages.flatMap((page) => page.embeds)).toEqual([]);
    expect(pages[0]?.content).toMatch(/^\*\*Why\?\*\*\n\nword0 /);
    expect(pages.at(-1)?.content).toMatch(/word599\n\n-# gpt · 12 tokens$/);
  });

  it('does not repeat the title in the progress', async () => {
    const progress = { stage: 'Composing', startedAt: 1e12 };
    const [page] = await renderPages({ title: 'Composing “rain”', progress }, OPTIONS);
    expect(page?.embeds).toMatchObject([
      { title: 'Composing “rain”', description: '-# Started <t:1000000000:R>' },
    ]);
  });

  it('attaches files within the limit and links larger ones', async () => {
    const item = (name: string, bytes: number) => ({
      kind: 'audio' as const,
      name,
      source: { type: 'stored' as const, file: { name, bytes, contentType: 'audio/mpeg' } },
    });
    const [page] = await renderPages(
      { title: 'Rain', media: [item('small.mp3', 9_000_000), item('big.wav', 11_000_000)] },
      OPTIONS,
    );
    expect(page?.files.map((file) => file.name)).toEqual(['small.mp3']);
    expect(page?.embeds[0]?.description).toBe(
      `[Listen: big.wav](<https://bot.example/files/a?signature=b>)\n\n-# ${LINKED_FILES_SENTENCE}`,
    );
  });

  it('shows a failure in red', async () => {
    const message = { title: 'Composing “rain” failed', text: 'Try again.', footer: 'Reference j1' };
    const [page] = await renderPages({ ...message, isFailure: true }, OPTIONS);
    expect(page?.embeds).toMatchObject([{ title: message.title, color: 0xb3261e }]);
  });

  it('shows a song as a card with its cover and both takes attached', async () => {
    const stored = (name: string) => ({
      type: 'stored' as const,
      file: { name, bytes: 1_000, contentType: 'x/y' },
    });
    const [page, ...more] = await renderPages(
      {
        title: 'Rain',
        fields: [{ name: 'Style', value: 'lofi' }],
        media: [
          { kind: 'image', name: 'cover.jpg', source: stored('c'), cover: true, alt: 'A window' },
          { kind: 'audio', name: 'rain 1.mp3', source: stored('1'), caption: 'Take 1 · 2:31' },
          { kind: 'audio', name: 'rain 2.mp3', source: stored('2'), caption: 'Take 2 · 2:40' },
        ],
        footer: 'Requested by Ada',
      },
      OPTIONS,
    );
    expect(more).toEqual([]);
    expect(page?.files.map((file) => file.name)).toEqual(['cover.jpg', 'rain_1.mp3', 'rain_2.mp3']);
    expect(page?.files.map((file) => file.title)).toEqual([undefined, 'rain 1', 'rain 2']);
    expect(page?.embeds).toEqual([
      {
        title: 'Rain',
        fields: [{ name: 'Style', value: 'lofi', inline: true }],
        footer: { text: 'Requested by Ada' },
        color: 0x6e56cf,
        image: { url: 'attachment://cover.jpg' },
      },
    ]);
  });
});
