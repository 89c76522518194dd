/** The page of a channel's songs. */

import { MARK_PATH } from '../../core/brand.ts';
import { duration, ellipsis } from '../../core/util/words.ts';
import { type Html, html } from '../../core/web/html.ts';
import type { AlbumPage, AlbumSong } from './content.ts';
import { documentOf, type PageLayout } from './layout.ts';

export function albumDocument(
  { channel, songs }: AlbumPage,
  context: Pick<PageLayout, 'root' | 'asset'>,
): string {
  const title = channel === undefined ? 'Songs from a channel' : `Songs from #${ellipsis(channel, 100)}`;
  const body = html`<body>
<main class="album">
<h1 dir="auto">${title}</h1>
${songs.length === 0 ? html`<p>No public songs here yet.</p>` : html`<ul class="songs">${songs.map((song) => card(song, context.root))}</ul>`}
<footer><p>Made with Minstrel. Moderators can turn this page off.</p></footer>
</main>
</body>`;
  return documentOf({ ...context, title, body });
}

function card({ title, path, person, cover, seconds }: AlbumSong, root: string): Html {
  const facts = seconds === undefined ? undefined : html` · ${duration(seconds)}`;
  return html`<li><a href="${root}${path ?? ''}">
${cover ? html`<img src="${root}${cover.path}" alt="" width="160" height="160" loading="lazy">` : html`<span class="no-cover" aria-hidden="true"><svg viewBox="0 0 32 32"><path d="${MARK_PATH}"/></svg></span>`}
<span class="title" dir="auto">${ellipsis(title, 120)}</span>
<span class="by">Requested by <bdi>${ellipsis(person, 60)}</bdi>${facts}</span>
</a></li>
`;
}
