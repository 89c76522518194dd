import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLayOut, layOutPlainly } from '../../../src/platforms/discord/render/paginate.ts';
import { renderPages } from '../../../src/platforms/discord/render/render.ts';
import { parseMarkdown } from '../../../src/platforms/shared/markdown.ts';
import { createRenderThread } from '../../../src/platforms/shared/render-thread/host.ts';
import { createSlackText, slackTextPlainly } from '../../../src/platforms/slack/render/markdown.ts';
import { render } from '../../../src/platforms/slack/render/render.ts';
import { hostileMarkdown } from '../../fixtures/hostile-markdown.ts';
import { DISCORD, liveMentions } from '../../servers/discord/index.ts';
import { blockProblems } from '../../servers/slack/blocks.ts';

const ignore = () => undefined;
const sentences: string[] = [];
const log = {
  debug: ignore,
  info: ignore,
  error: ignore,
  warn: (_: object, line: string) => void sentences.push(line),
};
/** Of computing. The texts of honest people take a fifth of it. */
const BUDGET_MS = 100;
const platforms = (path: string) => new URL(`../../../src/platforms/${path}`, import.meta.url);

const discord = createRenderThread({
  module: platforms('discord/render/paginate.ts'),
  create: createLayOut,
  plainly: layOutPlainly,
  log,
  budgetMs: BUDGET_MS,
});
const slack = createRenderThread({
  module: platforms('slack/render/markdown.ts'),
  create: createSlackText,
  plainly: slackTextPlainly,
  log,
  budgetMs: BUDGET_MS,
});

/** Each shows a text and checks that it is what its platform takes. */
const RENDERERS = {
  Discord: async (text: string) => {
    const link = () => 'https://bot.example/a';
    const options = { fileBytes: 1e7, link, layOut: discord.render };
    for (const textFile of [true, false]) {
      for (const { content } of await renderPages({ title: 'Why?', text }, { ...options, textFile })) {
        expect(content.length).toBeLessThanOrEqual(DISCORD.content);
        expect(liveMentions(content)).toEqual([]);
      }
    }
  },
  Slack: async (text: string) => {
    for (const inThread of [true, false]) {
      const { parts } = await render({ text }, { person: 'U0ADA', inThread, layOut: slack.render });
      for (const { blocks } of parts) expect(blockProblems(blocks, 'message')).toEqual([]);
    }
  },
};

/**
 * The longest time for which other work had to wait, in milliseconds of this thread's own computing: what else the machine
 * does then changes nothing.
 */
async function longestWait(work: () => unknown): Promise<number> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const check = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.threadCpuUsage();
  };
  const timer = setInterval(check, 1);
  await work();
  clearInterval(timer);
  check();
  return longest;
}

const HONEST =
  '## A song\n\nSome **bold** words, `code` and a [link](https://example.org/a).\n\n- one\n- two\n\n';

describe('a text of 200 kB, however deep', () => {
  let honest = 0;
  beforeAll(async () => {
    // Reading 17 kB of an honest text, slow at first.
    for (let time = 0; time < 4; time += 1)
      honest = Math.max(honest, await longestWait(() => parseMarkdown(HONEST.repeat(200))));
  });
  afterAll(() => {
    for (const thread of [discord, slack]) thread.close();
  });

  it.each(Object.entries(RENDERERS))('does not occupy the bot on %s', async (_, show) => {
    await show('word, '.repeat(2_000));
    await fc.assert(
      fc.asyncProperty(hostileMarkdown, async (text) => {
        expect(await longestWait(() => show(text))).toBeLessThan(2 * honest);
      }),
      { numRuns: 4 },
    );
  });
});

describe('a render thread', () => {
  it('goes on after a text on which it failed, and does not try that again', async () => {
    const thread = createRenderThread({
      module: platforms('slack/render/markdown.ts'),
      create: createSlackText,
      plainly: ({ text }) => [text.slice(0, 5)],
      log,
      budgetMs: BUDGET_MS,
    });
    sentences.length = 0;
    const deep = `${'*a '.repeat(20_000)}${'b*'.repeat(20_000)}`;
    expect(await thread.render({ text: deep, limit: 4_000 })).toEqual(['*a *a']);
    expect(await thread.render({ text: `${deep} and more`, limit: 4_000 })).toEqual(['*a *a']);
    expect(sentences).toEqual(['A text is shown plain']);
    expect(await thread.render({ text: `**bold** ${'word, '.repeat(150)}`, limit: 4_000 })).toEqual([
      `**bold** ${'word, '.repeat(150)}`.trim(),
    ]);
    thread.close();
  });
});
