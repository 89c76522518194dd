/** Groups aligned words into lines, and formats them as an .lrc file: https://en.wikipedia.org/wiki/LRC_(file_format) */

import { present } from '../../core/util/present.ts';
import type { LyricLine } from '../../core/work.ts';
import type { AlignedWord } from '../../gateway/music/client.ts';

export interface LrcHead {
  readonly title: string;
  readonly artist: string;
  readonly durationSeconds?: number;
}

/** Without line breaks from the gateway, a pause of this length ends a line. */
const PAUSE_SECONDS = 0.9;
/** Characters of a line without line breaks from the gateway. */
const LONGEST_LINE = 48;

/** The lines of a song, in order. A section tag such as `[Chorus]` becomes the `section` of the next line. */
export function linesOf(words: readonly AlignedWord[]): LyricLine[] {
  const breaksLines = words.some(({ word }) => /\n/.test(word.trim()));
  const lines: LyricLine[] = [];
  let text = '';
  let startSeconds = 0;
  let endSeconds = 0;
  let section: string | undefined;

  const end = (): void => {
    const content = text.replace(/\s+/g, ' ').trim();
    text = '';
    if (content === '') return;
    lines.push({ startSeconds, text: content, ...present({ section }) });
    section = undefined;
  };

  for (const { word, ...time } of words) {
    if (!breaksLines && text !== '') {
      const isPause = time.startSeconds - endSeconds > PAUSE_SECONDS;
      if (isPause || text.length + word.trim().length > LONGEST_LINE) end();
    }
    for (const [index, part] of word.split(/(\n|\[[^[\]\n]*\])/).entries()) {
      if (part === '\n') end();
      else if (index % 2 === 1) {
        end();
        section = part.slice(1, -1).replace(/\s+/g, ' ').trim() || section;
      } else if (part.trim() !== '') {
        if (text.trim() === '') startSeconds = time.startSeconds;
        text += breaksLines || text === '' || /^\s/.test(part) || /\s$/.test(text) ? part : ` ${part}`;
      }
    }
    endSeconds = time.endSeconds;
  }
  end();
  return lines;
}

/** Returns the .lrc file: `[ti:]`, `[ar:]`, `[length:]` and the timed lines, with a final line break. */
export function lrc(lines: readonly LyricLine[], { title, artist, durationSeconds }: LrcHead): string {
  const head = [
    `[ti:${tagValue(title)}]`,
    `[ar:${tagValue(artist)}]`,
    ...(durationSeconds === undefined ? [] : [`[length:${clock(durationSeconds).slice(0, -3)}]`]),
    '[by:Minstrel]',
  ];
  const timed = lines.map(({ startSeconds, text }) => `[${clock(startSeconds)}]${lineText(text)}`);
  return [...head, ...timed, ''].join('\n');
}

/** 99:59.99, the largest time that the format has digits for. */
const MOST_HUNDREDTHS = 599_999;

/** Formats as `mm:ss.xx`. Rounds down, so that no line begins late and 59.999 never becomes 60. */
function clock(seconds: number): string {
  const hundredths = Math.min(Math.floor(seconds * 100 + 1e-6), MOST_HUNDREDTHS);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${two(Math.floor(hundredths / 6000))}:${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`;
}

/** Players interpret brackets as tags at any position. */
function lineText(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .trim();
}

function tagValue(text: string): string {
  return lineText(text).replace(/\s+/g, ' ');
}
