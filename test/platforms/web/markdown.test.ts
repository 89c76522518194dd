import { expect, it } from 'vitest';
import { webNodes } from '../../../src/platforms/web/render/markdown.ts';

const text = (value: string) => ({ type: 'text', value });
const paragraph = (...children: object[]) => ({ type: 'paragraph', children });

it.each([
  [
    'numbered lists and tasks',
    '3. a\n4. b\n\n- [x] c',
    [
      {
        type: 'list',
        start: 3,
        children: [
          { type: 'listItem', children: [paragraph(text('a'))] },
          { type: 'listItem', children: [paragraph(text('b'))] },
        ],
      },
      { type: 'list', children: [{ type: 'listItem', checked: true, children: [paragraph(text('c'))] }] },
    ],
  ],
  [
    'web links, and other URLs as text',
    '[a](https://a.example) [b](javascript:c) https://d.example/(e).',
    [
      paragraph(
        { type: 'link', url: 'https://a.example/', children: [text('a')] },
        text(' '),
        text('b'),
        text(' (javascript:c)'),
        text(' '),
        { type: 'link', url: 'https://d.example/(e)', children: [text('https://d.example/(e)')] },
        text('.'),
      ),
    ],
  ],
  [
    'tables and code',
    '|a|\n|-|\n|b|\n\n```js\nc\n```',
    [
      {
        type: 'table',
        children: ['a', 'b'].map((cell) => ({
          type: 'tableRow',
          children: [{ type: 'tableCell', children: [text(cell)] }],
        })),
      },
      { type: 'code', language: 'js', value: 'c' },
    ],
  ],
])('converts %s', async (_, markdown, nodes) => {
  expect(await webNodes(markdown)).toEqual(nodes);
});
