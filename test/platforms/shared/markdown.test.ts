import { describe, expect, it } from 'vitest';
import { parseMarkdown, textOf, unescapeOutsideCode } from '../../../src/platforms/shared/markdown.ts';

type Tree = Parameters<typeof textOf>[0];
const depthOf = (node: Tree): number =>
  1 + ('children' in node ? Math.max(0, ...node.children.map(depthOf)) : 0);

describe('Markdown', () => {
  it.each([
    ['quotes', `${'> '.repeat(996)}deep`],
    ['bullets', `${'- '.repeat(996)}deep`],
    ['numbers', `${'1. '.repeat(996)}deep`],
    ['stairs of bullets', Array.from({ length: 600 }, (_, at) => `${'  '.repeat(at)}- deep`).join('\n')],
  ])('is bounded in depth, and keeps its words: %s', (_, text) => {
    const tree = parseMarkdown(text);
    expect(depthOf(tree)).toBeLessThan(140);
    expect(textOf(tree)).toContain('deep');
  });

  it('keeps a line of many dashes a line', () => {
    expect(parseMarkdown('- '.repeat(60)).children).toMatchObject([{ type: 'thematicBreak' }]);
  });

  it.each([
    ['\\`not code\\` \\*', '`not code` *'],
    ['`co\\de` \\*', '`co\\de` *'],
    ['`` a`\\b `` \\*', '`` a`\\b `` *'],
    ['\\\\`a\\b`', '\\`a\\b`'],
    ['```\n\\a\n```\n\\_', '```\n\\a\n```\n_'],
  ])('read back, %j is %j', (written, meant) => {
    expect(unescapeOutsideCode(written)).toBe(meant);
  });
});
