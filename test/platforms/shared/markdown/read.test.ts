import { describe, expect, it } from 'vitest';
import type { MarkdownNode } from '../../../../src/core/web/browser-chat.ts';
import { parseMarkdown, readMarkdown } from '../../../../src/platforms/shared/markdown/read.ts';
import { textOf } from '../../../../src/platforms/shared/markdown/tree.ts';

const read = (markdown: string) => readMarkdown(markdown, (nodes) => nodes);
const depthOf = ({ children = [] }: MarkdownNode): number => 1 + Math.max(0, ...children.map(depthOf));

describe('Markdown', () => {
  it.each([
    ['quotes', `${'> '.repeat(996)}deep`],
    ['bullets', `${'- '.repeat(996)}deep`],
    ['numbers', `${'1. '.repeat(996)}deep`],
    ['nested bullets', Array.from({ length: 600 }, (_, at) => `${'  '.repeat(at)}- deep`).join('\n')],
    ['marks', `${'*a _'.repeat(900)}deep${'_ b*'.repeat(900)}`],
    ['images', `${'!['.repeat(996)}deep${'](a)'.repeat(996)}`],
  ])('limits the depth and keeps all words: %s', async (_, text) => {
    const nodes = await read(text);
    expect(Math.max(...nodes.map(depthOf))).toBeLessThan(140);
    expect(textOf(nodes)).toContain('deep');
  });

  it('parses many spaced dashes as a rule', () => {
    expect(parseMarkdown('- '.repeat(60))).toEqual([{ type: 'thematicBreak' }]);
  });

  it.each([
    ['paragraphs', 'One **word**, then more of it.\n\n'],
    ['lines', 'One **word**, then more of it.\n'],
    ['words', 'word '],
    ['a list', '- one\n  - two\n\n- three\n'],
    ['code', '```js\nconst a = `b`;\n\n\n```\n\n'],
  ])('loses no text between sections: %s', async (_, unit) => {
    const letters = (text: string) => text.replace(/[^a-z]/g, '');
    const text = unit.repeat(2_000);
    expect(letters(textOf(await read(text)))).toBe(letters(text.replaceAll('```js', '')));
  });

  it('keeps a long block of code in one piece', async () => {
    const code = Array.from({ length: 2_000 }, (_, line) => `const line${line} = "**${line}**";`).join('\n');
    const nodes = await read(`Before\n\n\`\`\`js\n${code}\n\`\`\`\n\nAfter **that**.`);
    expect(nodes.slice(1, -1)).toEqual([{ type: 'code', language: 'js', value: code }]);
    expect(nodes.at(-1)?.children?.[1]?.type).toBe('strong');
  });
});

it('reads a short text while it reads a long one', async () => {
  const finished: string[] = [];
  const long = read('- item\n'.repeat(30_000)).then(() => finished.push('long'));
  await Promise.all([long, read('Short.').then(() => finished.push('short'))]);
  expect(finished).toEqual(['short', 'long']);
});
