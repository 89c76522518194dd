/** What the bot said, read back from Discord as it was meant. */
import type { IncomingMessage } from './interaction.ts';

/** Text and card as Markdown, without the small print that stands for people alone. */
export function spokenByBot({ content, embeds }: Pick<IncomingMessage, 'content' | 'embeds'>): string {
  const embedded = embeds.flatMap((embed) => [embed.title, embed.description]);
  return [content, ...embedded]
    .map((text) => unescapeMarkdown(withoutSmallPrint(text ?? '')))
    .filter(Boolean)
    .join('\n\n');
}

function withoutSmallPrint(text: string): string {
  return text
    .replaceAll('\u200b', '')
    .split('\n')
    .filter((line) => !line.startsWith('-# '))
    .join('\n')
    .trim();
}

/** Code was never escaped. Emphasis is written with the sign that no list and no bold text begins with. */
function unescapeMarkdown(text: string): string {
  return text
    .split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : unescapeWords(part)))
    .join('');
}

function unescapeWords(text: string): string {
  return text
    .replace(/(?<![\\*\w])\*(?![*\s])((?:\\.|[^*\\])+?)(?<!\s)\*(?![*\w])/g, '_$1_')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1');
}
