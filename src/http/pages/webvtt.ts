import type { LyricLine } from '../../core/work.ts';

/** The last line has no next one to end it, in seconds. */
const LAST_LINE_SECONDS = 8;
/** A cue may not end when it begins, in seconds. */
const SHORTEST_SECONDS = 0.05;

/**
 * Lines as WebVTT captions, each until the next begins; a cue is named by the index of its line.
 * https://www.w3.org/TR/webvtt1/#syntax
 */
export function webVtt(lines: readonly LyricLine[]): string {
  const cues = lines.map(({ startSeconds, text }, index) => {
    const next = lines[index + 1]?.startSeconds ?? startSeconds + LAST_LINE_SECONDS;
    const end = Math.max(next, startSeconds + SHORTEST_SECONDS);
    return `${index}\n${timestamp(startSeconds)} --> ${timestamp(end)}\n${cueText(text)}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}

function timestamp(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const part = (size: number, of: number, digits: number) =>
    String(Math.floor(milliseconds / size) % of).padStart(digits, '0');
  return `${part(3_600_000, 1_000, 2)}:${part(60_000, 60, 2)}:${part(1_000, 60, 2)}.${part(1, 1_000, 3)}`;
}

/** One line of text without markup: a blank line or an arrow would end the cue. */
function cueText(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
