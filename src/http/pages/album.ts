/** The page of a channel's songs, which plays them one after another. */

import { counted, duration, ellipsis, roughDuration, timeAgo } from '../../core/util/words.ts';
import { type Html, html } from '../../core/web/html.ts';
import type { AlbumPage, AlbumSong } from './content.ts';
import { icon, NO_COVER, PLAY_ICON, PLAY_SYMBOLS } from './icons.ts';
import { documentOf, type PageLayout } from './layout.ts';

/** Maximum size of all songs, markup included, which keeps a page under 150 kB. */
const SONGS_BYTES = 100_000;

export interface AlbumPageContext extends Pick<PageLayout, 'root' | 'asset'> {
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function albumDocument(
  { title: named, channel, songs }: AlbumPage,
  context: AlbumPageContext,
): string {
  const ofChannel = channel === undefined ? 'Songs from a channel' : `Songs from #${ellipsis(channel, 100)}`;
  const title = named === undefined ? ofChannel : ellipsis(named, 200);
  let bytes = 0;
  const cards = songs.flatMap((song, index) => {
    // Older songs are not rendered, however long their titles are.
    if (bytes > SONGS_BYTES) return [];
    const rendered = card(song, index, context);
    bytes += Buffer.byteLength(rendered.markup);
    return bytes <= SONGS_BYTES ? [rendered] : [];
  });
  const seconds = songs.reduce((sum, song) => sum + (song.seconds ?? 0), 0);
  const total = seconds > 0 ? ` · ${roughDuration(seconds * 1000)}` : '';
  const main = html`<div class="heading">
<div class="about"><h1 dir="auto">${title}</h1>
<p class="by">${songs.length === 0 ? 'No public songs here yet. Songs from the channel will appear here.' : `${counted(songs.length, 'song')}${total}`}</p></div>
${songs.length > 0 && html`<button type="button" class="all">${PLAY_ICON}<span>${songs.length === 1 ? 'Play' : 'Play all'}</span></button>`}
</div>
${songs.length > 0 && html`<ol class="songs">${cards}</ol>`}
${cards.length < songs.length && html`<p class="by">Older songs are not shown.</p>`}
<footer><p>Made with Minstrel. Moderators can turn this page off.</p></footer>`;
  return documentOf({
    ...context,
    title,
    kind: 'album',
    modules: songs.length > 0 ? ['album.js'] : [],
    imports: songs.length > 0 ? ['controls.js', 'elements.js', 'session.js'] : [],
    main,
    after: songs.length > 0 ? bar() : undefined,
  });
}

function card(
  { title, path, person, cover, seconds, audio, createdAt, note }: AlbumSong,
  index: number,
  { root, now }: AlbumPageContext,
): Html {
  const length = seconds === undefined ? '' : duration(seconds);
  return html`<li data-src="${root}${audio.path}" data-length="${length}">
<div class="art">${length && html`<span class="badge">${length}</span>`}${cover ? html`<img src="${root}${cover.path}" alt="" width="200" height="200" loading="lazy">` : NO_COVER}<button type="button" class="play" id="p${index}" aria-label="Play" aria-labelledby="p${index} t${index}">${PLAY_ICON}</button></div>
<a class="title" id="t${index}" dir="auto" href="${root}${path ?? ''}">${ellipsis(title, 120)}</a>
<p class="by"><bdi>${ellipsis(person, 60)}</bdi> · ${note ?? html`<time datetime="${new Date(createdAt).toISOString()}">${timeAgo(createdAt, now)}</time>`}</p>
</li>
`;
}

/** The player at the bottom, shown once a song plays. */
function bar(): Html {
  return html`<section class="bar" aria-label="Player" hidden>
<img class="thumb" alt="" width="48" height="48">
<div class="now"><a class="title" dir="auto" href="#"></a><p class="by"></p></div>
<div class="buttons">
<button type="button" class="previous" aria-label="Previous song">${icon('previous')}</button>
<button type="button" class="play" aria-label="Play">${PLAY_ICON}</button>
<button type="button" class="next" aria-label="Next song">${icon('next')}</button>
</div>
<div class="position"><span class="time">0:00</span><input type="range" class="slider" min="0" max="0" value="0" step="any" aria-label="Position in the song"><span class="length"></span></div>
<p class="status" role="status"></p>
<audio preload="none"></audio>
</section>
${PLAY_SYMBOLS}
`;
}
