/** What a song says: while it is made, and when it is there, with a row of buttons for each take. */
import { actionId, type Button, type Field, type MediaItem, type Message } from '../../src/message.ts';
import type { JobView } from '../../src/work.ts';
import { duration } from '../text.ts';
import { lineage } from './lineage.ts';
import { lyricsMarkdown } from './sections.ts';
import { hasVoice, lyricsOf, takeName, titleOf } from './takes.ts';

/** With more takes than this, each gets one button that opens its own: platforms show 25 buttons a message. */
const TAKES_WITH_BUTTONS = 2;
const MOST_TAKES = 15;

export function songMessage(job: JobView): Message {
  const songs = job.result?.songs ?? [];
  const cover = songs.find(({ imageUrl }) => imageUrl !== undefined)?.imageUrl;
  const { fields, actions } = lineage(job);
  const media: MediaItem[] = [
    ...(cover === undefined
      ? []
      : [
          {
            kind: 'image' as const,
            name: 'cover',
            source: { type: 'remote' as const, url: cover },
            cover: true,
            alt: `Cover of ${titleOf(job)}`,
          },
        ]),
    ...songs.flatMap((song, index) => (song.audioUrl ? [takeMedia(job, index)] : [])),
  ];
  return {
    title: titleOf(job),
    fields: [...songFields(job), ...fields, { name: 'Asked by', value: job.person.displayName }],
    media,
    actions: [...songButtons(job), ...actions],
  };
}

/** Lyrics as soon as there are words, and the first take as soon as it plays. */
export function earlySongMessage(job: JobView): Message {
  const [first] = job.result?.songs ?? [];
  const lyrics = lyricsOf(job);
  const listen =
    first?.audioUrl === undefined && first?.streamUrl !== undefined
      ? `[Listen while it is made](<${first.streamUrl}>)`
      : undefined;
  const text = [listen, lyrics && lyricsMarkdown(lyrics)].filter(Boolean).join('\n\n');
  return {
    ...(first?.title ? { title: first.title } : {}),
    ...(text ? { text } : {}),
    fields: songFields(job),
    ...(first?.audioUrl ? { media: [takeMedia(job, 0)] } : {}),
  };
}

/** Style and voice; what was derived is said to be so. */
function songFields({ work, result }: JobView): Field[] {
  const request = 'request' in work && 'style' in work.request ? work.request : undefined;
  const style = request?.style ?? result?.songs.find((song) => song.style !== undefined)?.style;
  const derived = work.route === 'music.generate' && work.roughStyle !== undefined;
  const voice = 'voiceName' in work ? work.voiceName : undefined;
  return [
    ...(style ? [{ name: derived ? 'Style, from your words' : 'Style', value: style }] : []),
    ...(voice ? [{ name: 'Voice', value: voice }] : []),
  ];
}

/** Every take's buttons, then those of the whole song. */
function songButtons(job: JobView): Button[] {
  const songs = job.result?.songs ?? [];
  const own: Button[] =
    songs.length <= TAKES_WITH_BUTTONS
      ? songs.flatMap((_, index) => takeButtons(job, index, songs.length > 1 ? ` ${index + 1}` : ''))
      : songs
          .slice(0, MOST_TAKES)
          .map((_, index) => ({ ...button(job, 'take', index, `Take ${index + 1} …`), group: 'takes' }));
  const whole = [
    ...(lyricsOf(job) ? [button(job, 'lyrics', 0, 'Lyrics')] : []),
    ...(job.taskId && songs.length > 0 ? [button(job, 'cover', 0, 'Cover art')] : []),
    ...(job.work.route === 'music.extend' ? [] : [againButton(job, 'change', 'Change')]),
    againButton(job, 'again', 'Again'),
  ];
  return [...own, ...whole];
}

/** What can be made of one take. `suffix` tells the takes apart. */
export function takeButtons(job: JobView, index: number, suffix = ''): Button[] {
  if (!job.taskId || job.result?.songs[index]?.audioId === undefined) return [];
  const voiced = hasVoice(job);
  const actions = [
    ['extend', 'Extend'],
    ['stems', 'Stems'],
    ...(voiced ? [['karaoke', 'Karaoke']] : []),
    ['wav', 'WAV'],
    ['video', 'Music video'],
    ...(voiced ? [['voice', 'Keep voice']] : []),
  ] as const satisfies readonly (readonly string[])[];
  return actions.map(([action = '', label = '']) => ({
    ...button(job, action, index, `${label}${suffix}`),
    group: `take ${index}`,
  }));
}

/** The studio's actions are the song's, whatever command made it. */
function button({ id: job }: JobView, action: string, index: number, label: string): Button {
  return { type: 'action', id: actionId({ command: 'song', action, job, index }), label };
}

function againButton({ id: job, command }: JobView, action: string, label: string): Button {
  return { type: 'action', id: actionId({ command, action, job, index: 0 }), label };
}

function takeMedia(job: JobView, index: number): MediaItem {
  const { audioUrl = '', durationSeconds, title, lyrics, imageUrl } = job.result?.songs[index] ?? {};
  const number = `Take ${index + 1}`;
  const sung = lyricsOf(job);
  return {
    kind: 'audio',
    name: `${titleOf(job)} (take ${index + 1})`,
    source: { type: 'remote', url: audioUrl },
    caption: durationSeconds === undefined ? number : `${number} · ${duration(durationSeconds)}`,
    tags: {
      title: title ?? titleOf(job),
      artist: `Minstrel for ${job.person.displayName}`,
      ...(sung ? { lyrics: lyrics?.trim() ? lyrics : sung } : {}),
      ...(imageUrl === undefined ? {} : { coverUrl: imageUrl }),
    },
  };
}

/** A song as people find it again later: no files, its buttons, and the way to its message. */
export function songCard(job: JobView, index: number): Message {
  const lyrics = lyricsOf(job);
  return {
    title: takeName({ job, index }).replace(/[“”]/g, ''),
    ...(lyrics ? { text: lyricsMarkdown(lyrics) } : {}),
    fields: [
      ...songFields(job),
      ...lineage(job).fields,
      { name: 'Asked by', value: job.person.displayName },
      { name: 'Made', value: plainDate(job.createdAt) },
    ],
    actions: songButtons(job),
  };
}

function plainDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
