import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMarkdown } from '../../../src/platforms/shared/markdown.ts';
import { createPartReader, markdownParts } from '../../../src/platforms/shared/text.ts';
import { anyMarkdown } from '../../fixtures/message-arbitrary.ts';

/** Without the places in the text. */
const treeOf = (markdown: string): unknown[] =>
  JSON.parse(
    JSON.stringify(parseMarkdown(markdown).children, (key, value) =>
      key === 'position' ? undefined : value,
    ),
  );

const LINES = [
  'words',
  '**bold** words',
  '# heading',
  '- item',
  '* item',
  '1. item',
  '  more of it',
  '    code',
  '> quote',
  '```',
  '````js',
  '~~~',
  '  ```',
  '- ```',
  '---',
  '===',
  '***',
  '| a | b |',
  '|---|---|',
  '<b>',
  '</div>',
  '<!-- a',
  '-->',
  '[a]: https://b.example',
  '[a][a] and [^1]',
  '[^1]: note',
  '\ttab',
  '',
  '',
  '',
  ' ',
];
const document = fc.array(fc.constantFrom(...LINES), { maxLength: 25 }).map((lines) => lines.join('\n'));

describe('the parts of a text', () => {
  it.each([
    ['lines', document],
    ['anything', anyMarkdown],
  ])('mean alone what they mean together, whatever the text is: %s', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (markdown) => {
        const parts = markdownParts(markdown);
        expect(parts.join('\n')).toBe(markdown);
        expect(parts.flatMap(treeOf)).toEqual(treeOf(markdown));
      }),
    );
  });

  it('are read once while the text grows, all but the last', () => {
    const read: string[] = [];
    const reader = createPartReader((part: string, _: boolean) => {
      read.push(part);
      return [part];
    });
    const paragraphs = Array.from({ length: 50 }, (_, index) => `Paragraph **${index}** of it.`);
    for (const count of paragraphs.keys())
      expect(reader(paragraphs.slice(0, count + 1).join('\n\n'), true).join('\n')).toContain(`**${count}**`);
    expect(read.length).toBeLessThanOrEqual(2 * paragraphs.length);
  });
});
