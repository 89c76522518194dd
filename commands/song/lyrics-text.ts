/** Lyrics as text: with section tags for the gateway, and as Markdown for people. */
import { plain } from '../../src/core/message.ts';
import { shortened } from '../text/phrases.ts';

const NAMES =
  'intro|verse|pre-?chorus|post-?chorus|chorus|refrain|hook|bridge|interlude|instrumental|break|breakdown|build|drop|solo|outro|end|ending|coda|rap|spoken(?: word)?';
const NUMBER = '(?:\\s*(?:\\d{1,2}|[ivx]{1,4}))?';

/** A line with only a section's name: `Verse 1:`, `(Chorus)`, `**Bridge**`, `## Outro`. */
const SECTION = new RegExp(`^[\\s#*_({<]*((?:${NAMES})${NUMBER})[\\s:)}>*_]*$`, 'i');
const TAG = /^\s*\[([^\]\n]{1,80})\]\s*$/;
/** A single word on a line may be part of the lyrics, such as “End”. */
const BARE = /^[\w\s-]+$/;

/** Marks sections for the gateway (contract: "section tags in square brackets"). */
export function withSectionTags(lyrics: string): string {
  return lyrics
    .split('\n')
    .map((line) => {
      const [, name] = SECTION.exec(line) ?? [];
      return name === undefined || BARE.test(line) ? line : `[${name.trim()}]`;
    })
    .join('\n');
}

/** Lyrics as Markdown, with section names in bold. */
export function lyricsMarkdown(lyrics: string): string {
  return lyrics
    .trim()
    .split('\n')
    .map((line) => {
      const [, name] = TAG.exec(line) ?? [];
      return name === undefined ? plain(line.trimEnd()) : `**${plain(name.trim())}**`;
    })
    .join('\n');
}

/** Lines of an excerpt, and its characters. */
const EXCERPT = { lines: 4, length: 280 } as const;

/** The first whole lines as a quotation, in Markdown, with an ellipsis if there are more. The button Lyrics shows the rest. */
export function lyricsExcerpt(lyrics: string): string {
  const all = lyrics
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !TAG.test(line));
  const shown: string[] = [];
  let length = 0;
  for (const line of all.slice(0, EXCERPT.lines)) {
    length += line.length;
    if (shown.length > 0 && length > EXCERPT.length) break;
    shown.push(shortened(line, EXCERPT.length));
  }
  const end = all.length > shown.length ? ' …' : '';
  return shown.map((line, index) => `> ${plain(line)}${index === shown.length - 1 ? end : ''}`).join('\n');
}

/** The first line that is not a section tag. */
export function firstLine(lyrics: string | undefined): string | undefined {
  return lyrics
    ?.split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '' && !TAG.test(line));
}
