import { describe, expect, it } from 'vitest';
import { closeMarkdown } from '../../../commands/ask/unfinished-markdown.ts';
import { parseMarkdown } from '../../../src/platforms/shared/markdown/read.ts';
import { textOf } from '../../../src/platforms/shared/markdown/tree.ts';

/** The rendered text without white space. */
const visible = (markdown: string): string => textOf(parseMarkdown(markdown)).replace(/\s+/g, '');

describe.each([
  ['**bold**', '**bold**'],
  ['It is **very impor', 'It is **very impor**'],
  ['It is **very impor*', 'It is **very impor**'],
  ['It is **', 'It is'],
  ['*a **b', '*a **b***'],
  ['***both', '***both***'],
  ['~~gone', '~~gone~~'],
  ['some_name and another_na', 'some_name and another_na'],
  ['_slanted wor', '_slanted wor_'],
  ['2 * 3 * 4', '2 * 3 * 4'],
  ['call `f(x', 'call `f(x`'],
  ['call `', 'call'],
  ['``a ` b', '``a ` b``'],
  ['[the pa', 'the pa'],
  ['[the page](https://exam', 'the page'],
  ['[the page](https://example.org),', '[the page](https://example.org),'],
  ['[the page](https://example.org)', 'the page'],
  ['[**the** page](https://exam', '**the** page'],
  ['see [1] and', 'see [1] and'],
  ['![a fox](https://ex', '![a fox]()'],
  ['```js\nconst a = `**` + b', '```js\nconst a = `**` + b'],
  ['```js\nf(a);\n\n- **b', '```js\nf(a);\n\n- **b'],
  ['- **one**\n- **`npm ins', '- **one**\n- **`npm ins`**'],
  ['```js\nconst a = 1\n``', '```js\nconst a = 1'],
  ['an [open\n```\ncode\n```\nand **more', 'an [open\n```\ncode\n```\nand **more**'],
  ['Title\n-', 'Title'],
  ['Title\n==', 'Title'],
  ['- one\n- **tw', '- one\n- **tw**'],
  ['**one\n\ntwo', '**one\n\ntwo'],
  ['\\*not', '\\*not'],
  ['ends in \\', 'ends in'],
  ['', ''],
])('%j', (unfinished, closed) => {
  it(`reads as ${JSON.stringify(closed)}`, () => {
    expect(closeMarkdown(unfinished)).toBe(closed);
  });
});

describe('at every position of a stream', () => {
  it.each([
    ['emphasis', 'It is **very *much* so** and _that_ is ~~not~~ all, says `code` here.'],
    ['links', 'See [the **page**](https://example.org/a_(b)) or ![a fox](https://example.org/fox.png) now.'],
    ['code', 'First `a * b` and ``c ` d``.\n\n```ts\nconst a = "**";\n// `x` [y](\n```\n\nAfter *that*.'],
    [
      'lists',
      '# Title\n\nSome:\n\n- **one**: *first*\n- two `x`\n  - nested **three**\n\n1. a\n2. **b**\n\nEnd.',
    ],
    ['tables', 'Look:\n\n| a | b |\n| --- | --- |\n| **1** | `2` |\n\nDone.'],
    ['quotes', '> **Said** he\n> and _she_.\n\nThen.'],
  ])('%s show only a prefix of the final text', (_name, markdown) => {
    const whole = visible(markdown);
    for (let at = 0; at <= markdown.length; at += 1) {
      const shown = visible(closeMarkdown(markdown.slice(0, at)));
      // The first line alone is not recognised as a table.
      if (markdown.includes('| ---') && shown.includes('|')) continue;
      expect(whole.startsWith(shown), `after ${JSON.stringify(markdown.slice(0, at))}: ${shown}`).toBe(true);
    }
  });
});
