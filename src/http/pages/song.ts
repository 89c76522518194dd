/** The page of a song: one player for its takes, lyrics, downloads and a mixer for its stems. Works without scripts where possible. */

import {
  beginning,
  duration,
  ellipsis,
  fileSize,
  longDay,
  roughDuration,
  timeAgo,
} from '../../core/util/words.ts';
import { type Html, html } from '../../core/web/html.ts';
import type { LyricLine } from '../../core/work.ts';
import type { LinkedFile, PageLink, PageProgress, PageTake, SongPage } from './content.ts';
import { icon, NO_COVER, PLAY_ICON, PLAY_SYMBOLS } from './icons.ts';
import { documentOf, type PageLayout } from './layout.ts';

/** Maximum characters, which keep a page under 150 kB. */
const MAX_TITLE = 300;
const MAX_STYLE = 600;
/** Longer titles are set in smaller type. */
const LONG_TITLE = 50;
const MAX_LINE = 2_000;
/** Maximum size of all lines of lyrics on a page, markup included. */
const LYRICS_BYTES = 60_000;
const MAX_NAME = 100;
/** Maximum links to other songs. */
const MAX_LINKS = 20;

const IMPORTS = [
  'audio',
  'controls',
  'deck',
  'elements',
  'karaoke',
  'lyrics',
  'mixer',
  'mixing',
  'player',
  'session',
  'share',
  'wave',
].map((name) => `${name}.js`);

export interface SongPageContext extends Pick<PageLayout, 'root' | 'asset'> {
  /** The page's public URL. */
  readonly url: string;
  /** Returns the absolute URL of a path relative to the root. */
  readonly absolute: (path: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Take = SongPage['takes'][number];

export function songDocument(song: SongPage, context: SongPageContext): string {
  const title = ellipsis(song.title, MAX_TITLE);
  const { root, asset } = context;
  const href = (path: string) => `${root}${path}`;
  const isOnly = song.takes.length === 1;
  const hasLyrics = song.takes.some(({ lines }) => lines.length > 0);
  const hasStems = song.takes.some(({ stems }) => stems.length > 0);
  const main = html`${song.cover && html`<div class="glow"><img src="${href(song.cover.path)}" alt=""></div>`}
<article class="hero">
${song.progress ? coverWithProgress(song, song.progress, { href, now: context.now }) : song.cover ? html`<img class="cover" src="${href(song.cover.path)}" alt="Cover of ${title}" width="320" height="320">` : NO_COVER}
<div class="about">
<h1 dir="auto"${title.length > LONG_TITLE && html` class="long"`}>${title}</h1>
<p class="by">Requested by <bdi>${ellipsis(song.person, MAX_NAME)}</bdi> · <time datetime="${new Date(song.createdAt).toISOString()}" title="${longDay(song.createdAt)}">${timeAgo(song.createdAt, context.now)}</time></p>
${song.award !== undefined && html`<p class="by">${ellipsis(song.award, MAX_STYLE)}</p>`}
${song.progress && song.takes.length > 0 && html`<p class="doing" role="status">${isOnly ? `Take ${song.takes[0]?.number} is` : `${song.takes.length} takes are`} ready. ${song.progress.stage}…</p>`}
</div>
${player(song.takes, { title, href })}
${
  song.takes.length > 0 &&
  html`<div class="actions">
${hasLyrics && html`<button type="button" class="sing">${icon('microphone')}Karaoke</button>`}
${hasStems && html`<button type="button" class="mix" aria-expanded="false">${icon('mixer')}Mixer</button>`}
${song.takes.map((take) => downloads(take, { href, isOnly }))}
<label class="speed"><span>Speed</span> <select aria-label="Speed">${['0.5', '0.75', '1', '1.25', '1.5', '2'].map((speed) => html`<option value="${speed}"${speed === '1' && html` selected`}>${speed}×</option>`)}</select>${icon('chevron')}</label>
</div>`
}
${
  (song.basedOn || song.style) &&
  html`<div class="details">
${song.style && html`<p class="style"><span class="unseen">Style: </span><bdi>${ellipsis(song.style, MAX_STYLE)}</bdi></p>`}
${song.basedOn && html`<p class="from">Based on ${songLink(song.basedOn, href)}</p>`}
</div>`
}
${song.takes.map((take) => take.stems.length > 0 && mixer(take, { href, isOnly }))}
</article>
<div class="below">
${lyricsSection(song)}
${song.derived.length > 0 && derivedSection(song.derived, href)}
</div>
<footer>${origin(song, title, context.url)}<p>Made with Minstrel. Anyone with this link can listen. The requester and moderators can remove this page.</p></footer>`;
  return documentOf({
    title,
    root,
    asset,
    kind: 'song',
    modules: [...(song.takes.length > 0 ? ['song.js'] : []), ...(song.progress ? ['progress.js'] : [])],
    imports: song.takes.length > 0 ? IMPORTS : [],
    head: html`${song.progress && html`<noscript><meta http-equiv="refresh" content="10"></noscript>\n`}${sharing(song, title, context)}`,
    tools: html`<button type="button" class="share" data-url="${context.url}" aria-live="polite" hidden>${icon('share')}${icon('link')}<span></span></button>`,
    main,
    after: hasLyrics ? stage(title) : undefined,
  });
}

/** The cover of a song that is being created, with its progress until a take can be played. The page reloads itself when there is more to show. */
function coverWithProgress(
  { title, cover, takes, lyrics }: SongPage,
  { stage, startedAt, estimateMs }: PageProgress,
  { href, now }: { readonly href: (path: string) => string; readonly now: number },
): Html {
  const version = [stage, takes.length, cover !== undefined, lyrics?.length].join();
  return html`<div class="cover making" data-version="${version}" data-elapsed="${now - startedAt}" data-estimate="${estimateMs ?? ''}">
${cover ? html`<img src="${href(cover.path)}" alt="${takes.length > 0 && `Cover of ${ellipsis(title, MAX_TITLE)}`}">` : NO_COVER}
${
  takes.length === 0 &&
  html`<div class="progress"><svg class="dial" viewBox="0 0 100 100" aria-hidden="true"><circle class="ring" cx="50" cy="50" r="44"/><circle class="arc" cx="50" cy="50" r="44" pathLength="100" stroke-dasharray="25 100"/></svg>
<p class="doing" role="status">${stage}</p>
<p class="wait">${estimateMs === undefined ? 'This page updates when the song is ready' : `Usually takes about ${roughDuration(estimateMs)}`}</p></div>`
}
</div>`;
}

interface TakeOptions {
  readonly href: (path: string) => string;
  readonly isOnly: boolean;
}

/** One set of controls for all takes. Without scripts, the browser's own players are shown instead. */
function player(
  takes: readonly Take[],
  { title, href }: { readonly title: string; readonly href: (path: string) => string },
): Html {
  const nameOf = ({ number }: Take) => (takes.length === 1 ? title : `Take ${number}`);
  const [first] = takes;
  if (!first) return html``;
  const name = nameOf(first);
  return html`<section class="player" aria-label="Player">
${
  takes.length > 1 &&
  html`<fieldset class="switch"><legend class="unseen">Take</legend>${takes.map(
    (take) =>
      html`<label><input type="radio" name="take" value="${take.number}"${take === first && html` checked`}><span>${nameOf(take)}</span></label>`,
  )}</fieldset>`
}
${PLAY_SYMBOLS}
<div class="controls">
<button type="button" class="play" aria-label="Play ${name}">${PLAY_ICON}</button>
<div class="wave"><input type="range" class="seek" min="0" max="${first.seconds ?? 0}" value="0" step="any" aria-label="Position in ${name}"></div>
<span class="time">0:00</span>
<span class="length">${lengthOf(first)}</span>
</div>
<p class="status" role="status"></p>
${takes.map(
  (
    take,
  ) => html`<audio data-take="${take.number}" data-name="${nameOf(take)}" data-length="${lengthOf(take)}" preload="${take === first ? 'metadata' : 'none'}" src="${href(take.audio.path)}"></audio>
<noscript><p>${nameOf(take)}</p><audio controls preload="none" src="${href(take.audio.path)}" aria-label="${nameOf(take)}"></audio></noscript>
`,
)}</section>`;
}

/** The same number as in the chat. */
const lengthOf = ({ seconds }: PageTake): string => (seconds === undefined ? '' : duration(seconds));

function downloads(take: Take, { href, isOnly }: TakeOptions): Html {
  const { audio, wav, lrc, video, stems, number } = take;
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
  const which = isOnly ? undefined : html`<span class="unseen"> take ${number}</span>`;
  return html`<details class="downloads" data-for="${number}"><summary>${icon('download')}Download${which}</summary><ul>${links}</ul></details>\n`;
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

/** Hidden until its button is pressed, because it downloads all stems. */
function mixer({ number, stems }: Take, { href, isOnly }: TakeOptions): Html {
  const heading = isOnly ? 'Mixer' : `Mixer · take ${number}`;
  return html`<section class="mixer" id="mixer${isOnly ? '' : `-${number}`}" data-mixer="${number}" aria-label="${heading}" hidden>
<div class="heading"><h2>${heading}</h2><button type="button" class="save" hidden>${icon('download')}Download mix</button></div>
<p class="status" role="status"></p>
<ul>
${stems.map(
  ({ name, file }) =>
    html`<li class="lane" data-stem="${ellipsis(name, MAX_NAME)}" data-src="${href(file.path)}"><span class="name" dir="auto">${ellipsis(name, MAX_NAME)}</span></li>\n`,
)}</ul>
</section>
`;
}

/** Full-screen karaoke. While it is open, the page's lyrics and controls move there. */
function stage(title: string): Html {
  return html`<dialog class="stage" aria-label="Karaoke"><div class="screen">
<header><p dir="auto">${title}</p><button type="button" class="vocals" aria-pressed="true" hidden>${icon('microphone')}Vocals</button><button type="button" class="leave" aria-label="Close karaoke">${icon('close')}</button></header>
<p class="status" role="status"></p>
<div class="lines"></div>
<div class="deck"></div>
</div></dialog>
`;
}

function derivedSection(derived: readonly PageLink[], href: (path: string) => string): Html {
  return html`<section class="derived" aria-labelledby="derived"><h2 id="derived">Based on this song</h2>
<ul>${derived.slice(0, MAX_LINKS).map((link) => html`<li>${songLink(link, href)}</li>\n`)}</ul></section>`;
}

function songLink({ title, path }: PageLink, href: (path: string) => string): Html {
  const text = ellipsis(title, MAX_TITLE);
  return path === undefined ? html`<bdi>${text}</bdi>` : html`<a href="${href(path)}"><bdi>${text}</bdi></a>`;
}

/** Metadata for link previews: https://ogp.me */
function sharing({ cover, person, style, takes }: SongPage, title: string, context: SongPageContext): Html {
  const [first] = takes;
  const length = first && lengthOf(first);
  const description = ellipsis(
    [`AI-generated song, requested by ${person}`, style].filter(Boolean).join(' · '),
    300,
  );
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
  const names: [string, string | undefined][] = [
    ['description', description],
    ['twitter:card', 'summary'],
    ['twitter:image', cover && context.absolute(cover.path)],
    // Slack shows these as fields of a link preview.
    ['twitter:label1', 'Requested by'],
    ['twitter:data1', ellipsis(person, MAX_NAME)],
    ['twitter:label2', length && 'Length'],
    ['twitter:data2', length],
  ];
  return html`${properties.map(([property, content]) => content && html`<meta property="${property}" content="${content}">\n`)}${names.map(([name, content]) => content && html`<meta name="${name}" content="${content}">\n`)}`;
}

/** Says that the song was generated, in words and for machines: https://schema.org/digitalSourceType */
function origin({ model }: SongPage, title: string, url: string): Html {
  return html`<p itemscope itemtype="https://schema.org/MusicRecording" itemid="${url}"><meta itemprop="name" content="${title}"><link itemprop="digitalSourceType" href="https://schema.org/TrainedAlgorithmicMediaDigitalSource">Generated by AI${model && html` with <bdi>${ellipsis(model, MAX_NAME)}</bdi>`}.</p>`;
}

function extensionOf({ name }: LinkedFile): string {
  return name.slice(name.lastIndexOf('.') + 1).toUpperCase();
}
