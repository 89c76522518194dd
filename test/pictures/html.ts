import MarkdownIt from 'markdown-it';
import { parseBuffer } from 'music-metadata';
import sharp from 'sharp';

const BARS = 56;

/** Chats have a light and a dark look. */
export type Scheme = 'light' | 'dark';

/** HTML that is safe to insert without escaping. */
export interface Html {
  readonly html: string;
}

type Value = Html | string | number | undefined | readonly (Html | string | undefined)[];

/** Template tag that escapes values and joins lists. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: String.raw({ raw: parts }, ...values.map(textOf)) };
}

function textOf(value: Value): string {
  if (value === undefined) return '';
  if (typeof value === 'object') return 'html' in value ? value.html : value.map(textOf).join('');
  return String(value).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const PARSER = new MarkdownIt({ breaks: true });

/** Renders Markdown, as in a message of Discord or in a `markdown` block of Slack. */
export const markdown = (text: string): Html => ({ html: PARSER.render(text) });

/** Renders Markdown within a line. */
export const phrase = (text: string): Html => ({ html: PARSER.renderInline(text) });

/** Draws a paused player with a waveform derived from the file's bytes. */
export async function player(name: string, bytes: Uint8Array): Promise<Html> {
  const { format } = await parseBuffer(bytes, {}, { duration: true });
  const seconds = Math.round(format.duration ?? 0);
  const length = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const bars = Array.from({ length: BARS }, (_, index) => {
    const byte = bytes[Math.floor((bytes.length * (index + 0.5)) / BARS)] ?? 0;
    return html`<i style="height:${4 + (byte % 17)}px"></i>`;
  });
  return html`<div class="file">
    <b>${name}</b>
    <div class="bar"><span class="play"></span><span class="wave">${bars}</span><span>0:00 / ${length}</span></div>
  </div>`;
}

interface Size {
  readonly width: number;
  readonly height?: number;
}

/** Shrinks an image to fit its drawn size. */
export async function picture(bytes: Uint8Array, { width, height }: Size): Promise<Html> {
  const small = sharp(bytes).resize({
    width: width * 2,
    ...(height !== undefined && { height: height * 2 }),
    fit: 'inside',
  });
  const { data, info } = await small.png().toBuffer({ resolveWithObject: true });
  return html`<img width="${info.width / 2}" src="data:image/png;base64,${data.toString('base64')}" />`;
}
