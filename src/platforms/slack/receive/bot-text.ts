/** The bot's own messages, read back as Markdown: Slack gives markdown blocks back as rich text. */
import { z } from 'zod';
import { unescapeOutsideCode } from '../../shared/markdown/unescape.ts';
import { unescapeSlack } from '../render/escape.ts';

const header = z.object({ type: z.literal('header'), text: z.object({ text: z.string() }) });
const markdown = z.object({ type: z.literal('markdown'), text: z.string() });
const rich = z.object({ type: z.literal('rich_text'), elements: z.array(z.unknown()) });

/** Titles and text as Markdown, without progress, small print and buttons. */
export function spokenByBot(blocks: readonly unknown[]): string {
  const texts = blocks.map((block) => {
    const titled = header.safeParse(block);
    if (titled.success) return titled.data.text.text;
    const written = markdown.safeParse(block);
    if (written.success) return unescapeOutsideCode(unescapeSlack(written.data.text));
    const formatted = rich.safeParse(block);
    return formatted.success ? formatted.data.elements.map(richBlock).filter(Boolean).join('\n\n') : '';
  });
  return texts.filter(Boolean).join('\n\n').replaceAll('\u2060', '');
}

const richElement = z.object({
  type: z.string(),
  text: z.string().optional(),
  url: z.string().optional(),
  name: z.string().optional(),
  /** Of a list, or of a text. */
  style: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .optional()
    .catch(undefined),
  indent: z.number().optional(),
  elements: z.array(z.unknown()).optional(),
});

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function richBlock(block: unknown): string {
  const { data } = richElement.safeParse(block);
  if (!data) return '';
  const inner = data.elements ?? [];
  switch (data.type) {
    case 'rich_text_list':
      return inner
        .map((item, index) => {
          const bullet = data.style === 'ordered' ? `${index + 1}.` : '-';
          return `${'  '.repeat(data.indent ?? 0)}${bullet} ${richBlock(item)}`;
        })
        .join('\n');
    case 'rich_text_quote':
      return `> ${inner.map(richText).join('').replaceAll('\n', '\n> ')}`;
    case 'rich_text_preformatted':
      return `\`\`\`\n${inner.map(richText).join('')}\n\`\`\``;
    default:
      return inner.map(richText).join('');
  }
}

function richText(element: unknown): string {
  const { data } = richElement.safeParse(element);
  if (!data) return '';
  if (data.type === 'link') return data.text === undefined ? (data.url ?? '') : `[${data.text}](${data.url})`;
  if (data.type === 'emoji') return `:${data.name}:`;
  const text = data.text ?? '';
  const style = typeof data.style === 'object' ? data.style : {};
  if (text.trim() === '') return text;
  if (style.code) return `\`${text}\``;
  const marks = [style.strike && '~~', style.bold && '**', style.italic && '_'].filter(Boolean);
  return `${marks.join('')}${text}${marks.toReversed().join('')}`;
}
