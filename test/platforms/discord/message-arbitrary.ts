import fc from 'fast-check';
import type { Message } from '../../../src/message.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('', ' ', '@everyone', '<@123456789012345678>', '```', '**', '\n\n', '\\', '`'),
);
const long = fc
  .tuple(text, fc.nat(6_000))
  .map(([piece, length]) => (piece || 'x').repeat(Math.ceil(length / (piece.length || 1))));
const anyText = fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: long });

const url = fc.oneof(
  fc.webUrl({ withQueryParameters: true }),
  anyText,
  fc.constant(`https://example.org/${'a'.repeat(3_000)}`),
);
const source = fc.oneof(
  fc.record({ type: fc.constant('remote' as const), url }),
  fc.record({
    type: fc.constant('kept' as const),
    file: fc.record({ name: fc.uuid(), bytes: fc.nat(20_000_000), contentType: fc.constant('audio/mpeg') }),
  }),
);
const optional = <Shape extends object>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }) =>
  fc.record(shape, { requiredKeys: [] });

const media = fc
  .tuple(
    fc.record({ kind: fc.constantFrom('audio', 'image', 'video', 'file'), name: anyText, source }),
    optional({ alt: anyText, caption: anyText, cover: fc.boolean() }),
  )
  .map(([item, more]) => ({ ...item, ...more }));

const button = fc.oneof(
  fc
    .tuple(
      fc.record({
        type: fc.constant('action' as const),
        id: fc.oneof(anyText, fc.constant('song.again:job:0')),
        label: anyText,
      }),
      optional({
        emoji: fc.constantFrom('🎵', 'x', '👍🏽', ''),
        emphasis: fc.constantFrom('primary' as const, 'danger' as const),
      }),
    )
    .map(([item, more]) => ({ ...item, ...more })),
  fc.record({ type: fc.constant('link' as const), url, label: anyText }),
);

/** Any text that people or models might write: Markdown in bits, whole and broken. */
export const anyMarkdown = fc
  .array(
    fc.oneof(
      anyText,
      fc.constantFrom(
        '# ',
        '- ',
        '1. ',
        '> ',
        '```js\n',
        '\n```\n',
        '~~~',
        '| a | b |\n|---|---|\n| 1 | 2 |\n',
        '[x](http://a.b)',
        '![y](z)',
        '**',
        '_',
        '`',
        '<b>',
        '\n',
        '  \n',
        '@here',
        '<#12345>',
        '</song:1234>',
        '[^1]',
        '\n[^1]: note\n',
        '||',
        '&lt;@12345&gt;',
        '&#64;everyone',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

export const anyMessage: fc.Arbitrary<Message> = optional<Required<Message>>({
  title: anyText,
  text: anyMarkdown,
  fields: fc.array(fc.record({ name: anyText, value: anyText }), { maxLength: 40 }),
  media: fc.array(media, { maxLength: 25 }),
  actions: fc.array(button, { maxLength: 60 }),
  progress: fc
    .tuple(
      fc.record({ stage: anyText, startedAt: fc.double() }),
      optional({ queuePlace: fc.nat(), estimateMs: fc.nat() }),
    )
    .map(([item, more]) => ({ ...item, ...more })),
  footer: anyText,
  conversation: fc.boolean(),
  notify: fc.boolean(),
});
