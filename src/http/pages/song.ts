/** The page of a song: players, lyrics, downloads and a mixer for its stems. Works without scripts where possible. */

import { BRAND_COLOUR } from '../../core/brand.ts';
import { beginning, duration, ellipsis, fileSize } from '../../core/util/words.ts';
import { type Html, html } from '../../core/web/html.ts';
import type { LyricLine } from '../../core/work.ts';
import type { LinkedFile, PageLink, PageTake, SongPage } from './content.ts';
import { documentOf, type PageLayout } from './layout.ts';

/** Maximum characters, which keep a page under 150 kB. */
const MAX_TITLE = 300;
const MAX_STYLE = 600;
const MAX_LINE = 2_000;
/** Maximum size of all lines of lyrics on a page, markup included. */
const LYRICS_BYTES = 60_000;
const MAX_NAME = 100;
/** Maximum links to other songs. */
const MAX_LINKS = 20;

export interface SongPageContext extends Pick<PageLayout, 'root' | 'asset'> {
  /** The page's public URL. */
  readonly url: string;
  /** Returns the absolute URL of a path relative to the root. */
  readonly absolute: (path: string) => string;
}

export function songDocument(song: SongPage, context: SongPageContext): string {
  const title = ellipsis(song.title, MAX_TITLE);
  const hasStems = song.takes.some(({ stems }) => stems.length > 0);
  const { root, asset } = context;
  const href = (path: string) => `${root}${path}`;
  const body = html`<body>
<main class="song">
<header>
${song.cover && html`<img class="cover" src="${href(song.cover.path)}" alt="Cover of ${title}" width="320" height="320">`}
<div class="about">
<h1 dir="auto">${title}</h1>
<p class="by">Requested by <bdi>${ellipsis(song.person, MAX_NAME)}</bdi>, <time datetime="${isoDay(song.createdAt)}">${day(song.createdAt)}</time></p>
${song.style && html`<p class="style" dir="auto">${ellipsis(song.style, MAX_STYLE)}</p>`}
${song.basedOn && html`<p class="from">Based on ${songLink(song.basedOn, href)}</p>`}
<p><button type="button" class="share" data-url="${context.url}" aria-live="polite" hidden></button></p>
</div>
</header>
<section class="takes" aria-label="Listen">
${song.takes.map((take) => takeCard(take, { title, href, isOnly: song.takes.length === 1 }))}
</section>
${lyricsSection(song)}
${song.takes.map((take) => (take.stems.length > 0 ? mixer(take, href, song.takes.length === 1) : undefined))}
${song.derived.length > 0 && derivedSection(song.derived, href)}
<footer><p>Made with Minstrel. Anyone with this link can listen. The requester can remove this page.</p></footer>
</main>
</body>`;
  const modules = ['player.js', 'share.js', ...(hasStems ? ['mixer.js'] : [])];
  return documentOf({ title, root, asset, modules, head: sharing(song, title, context), body });
}

interface TakeOptions {
  readonly title: string;
  readonly href: (path: string) => string;
  readonly isOnly: boolean;
}

function takeCard(take: PageTake & { readonly number: number }, { title, href, isOnly }: TakeOptions): Html {
  const { number, audio, seconds } = take;
  const name = isOnly ? title : `Take ${number}`;
  return html`<article class="take" data-take="${number}">
${!isOnly && html`<h2>Take ${number}</h2>`}
<audio controls preload="metadata" src="${href(audio.path)}" aria-label="${name}"></audio>
<div class="controls" hidden>
<button type="button" class="play" aria-label="Play ${name}"><svg viewBox="0 0 24 24" aria-hidden="true"><path class="when-paused" d="M7 4.5v15l13-7.5z"/><path class="when-playing" d="M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z"/></svg></button>
<span class="time">0:00</span>
<input type="range" class="seek" min="0" max="${Math.ceil(seconds ?? 0)}" value="0" step="any" aria-label="Position in ${name}">
<span class="length">${seconds === undefined ? '' : duration(seconds)}</span>
<label class="speed"><span>Speed</span> <select aria-label="Speed of ${name}">${['0.5', '0.75', '1', '1.25', '1.5', '2'].map((speed) => html`<option value="${speed}"${speed === '1' && html` selected`}>${speed}×</option>`)}</select></label>
</div>
${downloads(take, href)}
</article>
`;
}

function downloads({ audio, wav, lrc, video, stems }: PageTake, href: (path: string) => string): Html {
  const files: [string, LinkedFile | undefined][] = [
    [extensionOf(audio), audio],
    ['WAV', wav],
    ['Synced lyrics', lrc],
    ['Video', video],
    ...stems.map(({ name, file }): [string, LinkedFile] => [ellipsis(name, MAX_NAME), file]),
  ];
  const links = files.flatMap(([label, file]) =>
    file
      ? [
          html`<li><a href="${href(file.path)}" download="${file.name}"><bdi>${label}</bdi> <small>${fileSize(file.bytes)}</small></a></li>\n`,
        ]
      : [],
  );
  return html`<details class="downloads"><summary>Download</summary><ul>${links}</ul></details>`;
}

/** The synced lyrics of each take, otherwise the song's plain lyrics. */
function lyricsSection({ takes, lyrics = '' }: SongPage): Html | undefined {
  const synced = takes.filter(({ lines }) => lines.length > 0);
  if (synced.length === 0 && !lyrics.trim()) return undefined;
  let bytes = 0;
  const fitting = (render: () => Html) => {
    // The rest is not rendered, however long it is.
    if (bytes > LYRICS_BYTES) return [];
    const line = render();
    bytes += Buffer.byteLength(line.markup);
    return bytes <= LYRICS_BYTES ? [line] : [];
  };
  const words =
    synced.length > 0
      ? synced.map(({ number, lines }) => {
          const items = lines.flatMap((line) => fitting(() => syncedLine(line)));
          return html`<ol class="timed" data-words="${number}" aria-label="Synced lyrics">${items}</ol>\n`;
        })
      : verses(beginning(lyrics, LYRICS_BYTES)).map((verse) => {
          const lines = verse.flatMap((line) => fitting(() => verseLine(line)));
          return lines.length > 0 && html`<p>${lines}</p>\n`;
        });
  return html`<section class="words" aria-labelledby="words"><h2 id="words">Lyrics</h2>
${words}${bytes > LYRICS_BYTES && html`<p>The lyrics are too long to show in full.</p>`}</section>`;
}

const verses = (lyrics: string): string[][] =>
  lyrics
    .trim()
    .split(/\n\s*\n/)
    .map((verse) => verse.split('\n'));

function syncedLine({ startSeconds, text, section }: LyricLine): Html {
  return html`<li data-start="${startSeconds}">${section && partTitle(section)}${lineText(text)}</li>\n`;
}

const TAG = /^\s*\[([^\]\n]{1,80})\]\s*$/;

function verseLine(line: string): Html {
  const [, tag] = TAG.exec(line) ?? [];
  return tag === undefined ? lineText(line) : partTitle(tag);
}

const lineText = (text: string) => html`<span class="line" dir="auto">${ellipsis(text, MAX_LINE)}</span>`;
const partTitle = (title: string) => html`<span class="part" dir="auto">${ellipsis(title, MAX_NAME)}</span>`;

function mixer(
  { number, stems, lines }: SongPage['takes'][number],
  href: (path: string) => string,
  isOnly: boolean,
): Html {
  const bytes = stems.reduce((sum, { file }) => sum + file.bytes, 0);
  const heading = isOnly ? 'Mixer' : `Mixer for take ${number}`;
  return html`<section class="mixer" id="mixer${isOnly ? '' : `-${number}`}" data-mixer="${number}" data-words="${lines.length > 0 ? number : ''}" aria-label="${heading}">
<h2>${heading}</h2>
<p class="hint">Play vocals and instruments separately, and make your own mix.</p>
<button type="button" class="open" hidden>Open mixer <small>${fileSize(bytes)} download</small></button>
<p class="status" role="status"></p>
<ul class="lanes">
${stems.map(
  ({
    name,
    file,
  }) => html`<li class="lane" data-stem="${ellipsis(name, MAX_NAME)}" data-src="${href(file.path)}"><span class="name" dir="auto">${ellipsis(name, MAX_NAME)}</span>
<audio controls preload="none" src="${href(file.path)}" aria-label="${ellipsis(name, MAX_NAME)}"></audio></li>
`,
)}</ul>
</section>
`;
}

function derivedSection(derived: readonly PageLink[], href: (path: string) => string): Html {
  return html`<section class="made" aria-labelledby="made"><h2 id="made">Based on this song</h2>
<ul>${derived.slice(0, MAX_LINKS).map((link) => html`<li>${songLink(link, href)}</li>\n`)}</ul></section>`;
}

function songLink({ title, path }: PageLink, href: (path: string) => string): Html {
  const text = ellipsis(title, MAX_TITLE);
  return path === undefined ? html`<bdi>${text}</bdi>` : html`<a href="${href(path)}"><bdi>${text}</bdi></a>`;
}

/** Metadata for link previews: https://ogp.me */
function sharing({ cover, person, style, takes }: SongPage, title: string, context: SongPageContext): Html {
  const [first] = takes;
  const description = ellipsis([`Song requested by ${person}`, style].filter(Boolean).join(' · '), 300);
  const properties: [string, string | undefined][] = [
    ['og:type', 'music.song'],
    ['og:site_name', 'Minstrel'],
    ['og:title', title],
    ['og:description', description],
    ['og:url', context.url],
    ['og:image', cover && context.absolute(cover.path)],
    ['og:image:alt', cover && `Cover of ${title}`],
    ['og:audio', first && context.absolute(first.audio.path)],
    ['og:audio:type', first?.audio.contentType],
    ['og:video', first?.video && context.absolute(first.video.path)],
    ['og:video:type', first?.video?.contentType],
    ['music:duration', first?.seconds === undefined ? undefined : String(Math.round(first.seconds))],
  ];
  const names: [string, string | number | undefined][] = [
    ['description', description],
    ['theme-color', BRAND_COLOUR],
    ['twitter:card', 'summary'],
    ['twitter:image', cover && context.absolute(cover.path)],
    // Slack shows these as fields of a link preview.
    ['twitter:label1', 'Requested by'],
    ['twitter:data1', ellipsis(person, MAX_NAME)],
    ['twitter:label2', first?.seconds && 'Length'],
    ['twitter:data2', first?.seconds && duration(first.seconds)],
  ];
  return html`${properties.map(([property, content]) => content !== undefined && html`<meta property="${property}" content="${content}">\n`)}${names.map(([name, content]) => content !== undefined && content !== 0 && html`<meta name="${name}" content="${content}">\n`)}`;
}

function extensionOf({ name }: LinkedFile): string {
  return name.slice(name.lastIndexOf('.') + 1).toUpperCase();
}

function isoDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

function day(milliseconds: number): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(milliseconds);
}
