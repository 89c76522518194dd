import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainOfMarkdown, slackMarkdown } from '../../../../src/platforms/slack/render/markdown.ts';
import { hostileMarkdown } from '../../../fixtures/hostile-markdown.ts';
import { links, pings } from '../../../servers/slack/mentions.ts';

const markdown = (text: string, limit = 8000) => slackMarkdown(text, limit);

describe('Markdown for Slack', () => {
  it('keeps emphasis, lists, headings and tables', async () => {
    expect(await markdown('# T\n\n**a** _b_ ~~c~~\n\n- x\n- y\n\n1. z')).toEqual([
      '# T\n\n**a** _b_ ~~c~~\n\n- x\n- y\n\n1. z',
    ]);
    expect(await markdown('| a | b |\n|---|---|\n| 1 | 2 |')).toEqual([
      'Table with columns a, b:\n\n| a | b |\n| - | - |\n| 1 | 2 |',
    ]);
  });

  it('shows angle brackets and entities unchanged', async () => {
    expect(await markdown('a < b & c > d')).toEqual(['a &lt; b & c > d']);
    expect(await markdown('\\&lt;')).toEqual(['&amp;lt;']);
  });

  it.each(['\\(x_1\\)', '\\{a, b\\}', 'a \\\\ b', '\\[ x \\]'])(
    'keeps the backslashes of a formula: %s',
    async (formula) => {
      expect(plainOfMarkdown(formula)).toBe(formula);
      const [sent = ''] = await markdown(formula);
      expect(sent.replace(/\\([\\_[\]])/g, '$1')).toBe(formula);
    },
  );

  it('shows numbers between colons without an emoji', async () => {
    expect(await markdown('1:100:5 at 10:30:45 :100:')).toEqual(['1:\u2060100:5 at 10:30:45 :100:']);
  });

  it('keeps links with ampersands', async () => {
    const [text = ''] = await markdown('[song](https://x.example/s_(1)?a=1&b=2)');
    expect(links({ blocks: [{ type: 'markdown', text }] })).toEqual([
      { label: 'song', url: 'https://x.example/s_%281%29?a=1&b=2' },
    ]);
  });

  it('shows the target of a link with another scheme', async () => {
    expect(await markdown('[click](javascript:alert)')).toEqual(['click (javascript:alert)']);
  });

  it('shows HTML as text', async () => {
    expect(await markdown('a <b>x</b>\n\n<div>\n*y*\n</div>')).toEqual([
      'a &lt;b>x&lt;/b>\n\n&lt;div>\n*y*\n&lt;/div>',
    ]);
  });

  it.each([
    ['emphasis within a word', '2*3*4'],
    ['names', 'snake_case_name'],
    ['code with angle brackets', '`vector<std::string>` and `<a href="https://a.example">`'],
    ['a block of code', '```html\n<!DOCTYPE html>\n<x:a b="&lt;">\n  <!-- c -->\n</x:a>\n```'],
    ['code that holds a fence', '````md\n```js\nx\n```\n````'],
    ['nested lists', '- a\n  - b\n    1. c\n- d'],
    ['code in a list', '1. a\n   ```sh\n   b\n   ```\n2. c'],
    ['a quote of two paragraphs', '> a\n>\n> b'],
    ['tasks', '- [x] a\n- [ ] b'],
    ['code as a link', '[`f(x)`](https://a.example/f)'],
    ['a bar in code in a table', 'Table with columns a, b:\n\n| a | b |\n| - | - |\n| `x \\| y` | 1 |'],
  ])('keeps unchanged: %s', async (_, written) => {
    expect(await markdown(written.replace(/^Table.*\n\n/, ''))).toEqual([written]);
  });

  it('shows the target of a link whose label is another address', async () => {
    expect(await markdown('[https://bank.example](https://evil.example)')).toEqual([
      'https://bank.example https://evil.example',
    ]);
  });

  it('mentions no one, even in code', async () => {
    const text = '<!channel> `<@U0ADA>`\n\n```\n<!here>\n```\n\n    <!subteam^S1>\n\n<!everyone>';
    const pinged = (await markdown(text)).flatMap((piece) =>
      pings({ blocks: [{ type: 'markdown', text: piece }] }),
    );
    expect(pinged).toEqual([]);
  });

  it('closes a code fence at the end of a piece and reopens it in the next', async () => {
    const pieces = await markdown(`\`\`\`ts\n${'const a = 1;\n'.repeat(40)}\`\`\``, 200);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) expect(piece).toMatch(/^```ts\n[\s\S]*\n```$/);
    const code = pieces.map((piece) => piece.replace(/^```ts\n|\n```$/g, '')).join('\n');
    expect(code.trimEnd()).toBe('const a = 1;\n'.repeat(40).trimEnd());
  });

  it('repeats the header of a long table, and continues the numbers of a long list', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => `| row ${index} | x |`).join('\n');
    const pieces = await markdown(`| head | b |\n|---|---|\n${rows}`, 150);
    expect(pieces[0]).toMatch(/^Table with columns head, b:/);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) expect(piece).toMatch(/(?:^|\n\n)\| head \| b \|\n\| - \| - \|\n\| row/);
    expect(pieces.join('\n').match(/row \d+/g)).toHaveLength(20);
    const list = Array.from({ length: 30 }, (_, index) => `${index + 1}. item ${index + 1}`).join('\n');
    const numbers = (await markdown(list, 100)).flatMap((piece) =>
      [...piece.matchAll(/^(\d+)\. item (\d+)$/gm)].map(([, a, b]) => [a, b]),
    );
    expect(numbers).toHaveLength(30);
    for (const [number, label] of numbers) expect(number).toBe(label);
  });

  it('keeps words whole', async () => {
    const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
    const pieces = await markdown(`**${text}**`, 300);
    expect(pieces.join(' ').match(/word\d+/g)).toEqual(text.split(' '));
    for (const piece of pieces) expect(piece).toMatch(/^\*\*word.*\d\*\*$/);
  });

  it('never exceeds the limit or mentions anyone, for any input', async () => {
    const mentions = fc
      .array(
        fc.constantFrom(
          '>',
          '- ',
          '\n',
          '`',
          '```',
          '<!here>',
          '*',
          '[',
          '](',
          ')',
          '|',
          '~',
          '<@U1>',
          'x'.repeat(90),
          ' ',
          '&',
          '#',
        ),
        { maxLength: 60 },
      )
      .map((parts) => parts.join(''));
    const hostile = hostileMarkdown.map((text) => text.slice(0, 20_000));
    await fc.assert(
      fc.asyncProperty(fc.oneof(mentions, fc.string(), hostile), async (text) => {
        for (const piece of await markdown(text, 250)) {
          expect(piece.length).toBeLessThanOrEqual(250);
          expect(pings({ blocks: [{ type: 'markdown', text: piece }] })).toEqual([]);
        }
      }),
      { examples: [['```<!here>\nwords\n```'], ['`a``b'.repeat(90)]] },
    );
  });

  it('makes plain text for notifications', async () => {
    expect(plainOfMarkdown('# Hi\n\n**you** [there](https://x.example)')).toBe('Hi\nyou there');
  });
});
