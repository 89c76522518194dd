import { parseBuffer } from 'music-metadata';
import sharp from 'sharp';

const BARS = 56;

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

/** Renders the only Markdown used here: `**strong**`, `*emphasis*`, `_emphasis_` and line breaks. */
export const markdown = (text: string): Html =>
  marked(text, /(\*\*[^*]+\*\*|\*[^*]+\*|_[^_]+_)/, (mark) => (mark.startsWith('**') ? 'b' : 'em'));

/** Renders Slack's `*strong*` and `_emphasis_`. */
export const mrkdwn = (text: string): Html =>
  marked(text, /(\*[^*]+\*|_[^_]+_)/, (mark) => (mark.startsWith('*') ? 'b' : 'em'));

const HIDDEN: Readonly<Record<string, string>> = { '*': '\ue000', _: '\ue001', '\\': '\ue002' };

function marked(text: string, mark: RegExp, elementOf: (mark: string) => 'b' | 'em'): Html {
  // Escaped characters are replaced temporarily, so that the pattern ignores them.
  const escaped = text.replace(/\\([*_\\])/g, (_, plain: string) => HIDDEN[plain] ?? plain);
  const pieces = escaped.split(mark).map((found, index) => {
    const piece = Object.entries(HIDDEN).reduce(
      (shown, [plain, sign]) => shown.replaceAll(sign, plain),
      found,
    );
    const words = index % 2 === 1 ? piece.replace(/^[*_]+|[*_]+$/g, '') : piece;
    const lines = words.split('\n').flatMap((line, at) => (at === 0 ? [line] : [html`<br />`, line]));
    if (index % 2 === 0) return html`${lines}`;
    return elementOf(piece) === 'b' ? html`<b>${lines}</b>` : html`<em>${lines}</em>`;
  });
  return html`${pieces}`;
}

/** Draws a paused player with a waveform derived from the file's bytes. */
export async function player(name: string, bytes: Uint8Array): Promise<Html> {
  const { format } = await parseBuffer(bytes, { mimeType: 'audio/mpeg' }, { duration: true });
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

/** Resizes a cover to its drawn size. */
export async function picture(bytes: Uint8Array, width: number): Promise<Html> {
  const small = await sharp(bytes)
    .resize(width * 2)
    .png()
    .toBuffer();
  return html`<img width="${width}" src="data:image/png;base64,${small.toString('base64')}" />`;
}
