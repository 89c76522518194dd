/** The page of a channel's songs. */

import { duration, ellipsis } from '../../core/util/words.ts';
import { type Html, html } from '../../core/web/html.ts';
import type { AlbumPage, AlbumSong } from './content.ts';
import { NO_COVER } from './icons.ts';
import { documentOf, type PageLayout } from './layout.ts';

export function albumDocument(
  { channel, songs }: AlbumPage,
  context: Pick<PageLayout, 'root' | 'asset'>,
): string {
  const title = channel === undefined ? 'Songs from a channel' : `Songs from #${ellipsis(channel, 100)}`;
  const main = html`<h1 dir="auto">${title}</h1>
${songs.length === 0 ? html`<p>No public songs here yet.</p>` : html`<ul class="songs">${songs.map((song) => card(song, context.root))}</ul>`}
<footer><p>Made with Minstrel. Moderators can turn this page off.</p></footer>`;
  return documentOf({ ...context, title, kind: 'album', main });
}

function card({ title, path, person, cover, seconds }: AlbumSong, root: string): Html {
  const facts = seconds === undefined ? undefined : html` · ${duration(seconds)}`;
  return html`<li><a href="${root}${path ?? ''}">
${cover ? html`<img src="${root}${cover.path}" alt="" width="160" height="160" loading="lazy">` : NO_COVER}
<span class="title" dir="auto">${ellipsis(title, 120)}</span>
<span class="by">Requested by <bdi>${ellipsis(person, 60)}</bdi>${facts}</span>
</a></li>
`;
}
