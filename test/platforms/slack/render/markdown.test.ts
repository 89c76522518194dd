import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSlackText, plainOfMarkdown } from '../../../../src/platforms/slack/render/markdown.ts';
import { links, pings } from '../../../servers/slack/mentions.ts';

const slackText = createSlackText();
const markdown = (text: string, limit = 8000) => slackText({ text, limit });

describe('Markdown for Slack', () => {
  it('keeps emphasis, lists, headings and tables', () => {
    expect(markdown('# T\n\n**a** _b_ ~~c~~\n\n- x\n- y\n\n1. z')).toEqual([
      '# T\n\n**a** _b_ ~~c~~\n\n- x\n- y\n\n1. z',
    ]);
    expect(markdown('| a | b |\n|---|---|\n| 1 | 2 |')).toEqual([
      'Table with the columns a, b:\n\n| a | b |\n| - | - |\n| 1 | 2 |',
    ]);
  });

  it('shows angle brackets and entities as they were written', () => {
    expect(markdown('a < b & c > d')).toEqual(['a &lt; b & c > d']);
    expect(markdown('\\&lt;')).toEqual(['&amp;lt;']);
  });

  it('leaves links whole, with their ampersands', () => {
    const [text = ''] = markdown('[song](https://x.example/s_(1)?a=1&b=2)');
    expect(links({ blocks: [{ type: 'markdown', text }] })).toEqual([
      { label: 'song', url: 'https://x.example/s_%281%29?a=1&b=2' },
    ]);
  });

  it('shows where a link leads that is none of the web', () => {
    expect(markdown('[click](javascript:alert)')).toEqual(['click (javascript:alert)']);
  });

  it('resolves references, and shows HTML as text', () => {
    expect(markdown('[a][r] <b>x</b>\n\n[r]: https://r.example')).toEqual([
      '[a](https://r.example) &lt;b>x&lt;/b>',
    ]);
  });

  it('pings no one, in code either', () => {
    const text = '<!channel> `<@U0ADA>`\n\n```\n<!here>\n```\n\n    <!subteam^S1>\n\n<!everyone>';
    expect(markdown(text).flatMap((piece) => pings({ blocks: [{ type: 'markdown', text: piece }] }))).toEqual(
      [],
    );
  });

  it('closes a code fence at the end of a piece and opens it again in the next', () => {
    const pieces = markdown(`\`\`\`ts\n${'const a = 1;\n'.repeat(40)}\`\`\``, 200);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) expect(piece).toMatch(/^```ts\n[\s\S]*\n```$/);
    const code = pieces.map((piece) => piece.replace(/^```ts\n|\n```$/g, '')).join('\n');
    expect(code.trimEnd()).toBe('const a = 1;\n'.repeat(40).trimEnd());
  });

  it('repeats the head of a long table, and goes on counting in a long list', () => {
    const rows = Array.from({ length: 20 }, (_, index) => `| row ${index} | x |`).join('\n');
    const [sentence, ...pieces] = markdown(`| head | b |\n|---|---|\n${rows}`, 150);
    expect(sentence).toBe('Table with the columns head, b:');
    expect(pieces.length).toBeGreaterThan(1);
    for (const piece of pieces) expect(piece).toMatch(/^\| head \| b \|/);
    const list = Array.from({ length: 30 }, (_, index) => `${index + 1}. item ${index + 1}`).join('\n');
    const numbers = markdown(list, 100).flatMap((piece) =>
      [...piece.matchAll(/^(\d+)\. item (\d+)$/gm)].map(([, a, b]) => [a, b]),
    );
    expect(numbers).toHaveLength(30);
    for (const [written, meant] of numbers) expect(written).toBe(meant);
  });

  it('cuts no words', () => {
    const text = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ');
    const pieces = markdown(`**${text}**`, 300);
    expect(pieces.join(' ').match(/word\d+/g)).toEqual(text.split(' '));
    for (const piece of pieces) expect(piece).toMatch(/^\*\*word.*\d\*\*$/);
  });

  it('never exceeds the limit and never pings, whatever comes', () => {
    const nasty = fc
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
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string()), (text) => {
        for (const piece of markdown(text, 250)) {
          expect(piece.length).toBeLessThanOrEqual(250);
          expect(pings({ blocks: [{ type: 'markdown', text: piece }] })).toEqual([]);
        }
      }),
    );
  });

  it('makes plain text for notifications', () => {
    expect(plainOfMarkdown('# Hi\n\n**you** [there](https://x.example)')).toBe('Hi\nyou there');
  });
});
