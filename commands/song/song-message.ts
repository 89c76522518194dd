/** Messages of a song, while it is created and when it is finished, with buttons for each take. */
import { serverOf } from '../../src/core/invocation.ts';
import type { JobView } from '../../src/core/job.ts';
import {
  type ActionButton,
  againButton,
  type Button,
  button,
  changeButton,
  type Field,
  type MediaItem,
  type Message,
} from '../../src/core/message.ts';
import { artistOf, coverAltText, hasVoice, lyricsOf, titleOf } from '../../src/core/music/song.ts';
import { present } from '../../src/core/util/present.ts';
import { capitalised, duration, longDay } from '../../src/core/util/words.ts';
import { entryParts } from '../contest/messages.ts';
import { lineage, requestedBy, shortened } from '../text/phrases.ts';
import { DERIVED_MESSAGES } from './derived-messages.ts';
import { lyricsExcerpt, lyricsMarkdown } from './lyrics-text.ts';
import { takeName, withTake } from './takes.ts';

/** Characters of one option in a result. */
const LONGEST_OPTION = 500;
const LONGEST_LYRICS = 160;
/** The gateway creates two takes, and a message has at most 25 buttons. */
const TAKES_WITH_BUTTONS = 2;

function songMessage(job: JobView): Message {
  const songs = job.result?.songs ?? [];
  const [variant] = job.result?.lyrics ?? [];
  if (songs.length === 0 && variant !== undefined) return lateLyricsMessage(job, variant.text);
  const cover = songs.find(({ imageUrl }) => imageUrl !== undefined)?.imageUrl;
  const { fields, actions } = lineage(job);
  const covers: MediaItem[] = cover
    ? [
        {
          kind: 'image',
          name: `${titleOf(job)} - cover`,
          source: { type: 'remote', url: cover },
          cover: true,
          alt: coverAltText(job),
        },
      ]
    : [];
  const media = [
    ...covers,
    ...songs.flatMap((song, index) => (song.audioUrl ? [takeMedia(job, index)] : [])),
  ];
  const title = titleOf(job);
  const facts = [...songFields(job), ...fields];
  const entry = entryParts(job);
  return {
    title,
    titleUrl: job.pageUrl,
    ...excerptOf(job),
    fields: [...requestFields(job, { title, fields: facts }), ...facts, ...entry.fields],
    media,
    footer: requestedBy(job),
    actions: [...entry.actions, ...songButtons(job), ...actions],
  };
}

/** A link to the song's page, if it has one. */
export function pageLink({ pageUrl }: JobView, label: string, part = ''): Button[] {
  return pageUrl === undefined ? [] : [{ type: 'link', url: `${pageUrl}${part}`, label }];
}

/** Lyrics that arrived after the job had failed. */
function lateLyricsMessage(job: JobView, lyrics: string): Message {
  const title = titleOf(job);
  return {
    title,
    text: `The lyrics arrived too late to create the song automatically. To create it, press **Sing it**.\n\n${lyricsMarkdown(lyrics)}`,
    fields: requestFields(job, { title }),
    footer: requestedBy(job),
    actions: [
      {
        ...button({ id: job.id, command: 'lyrics' }, 'sing', 'Sing it'),
        icon: 'karaoke',
        emphasis: 'primary',
      },
      changeButton(job),
      againButton(job),
    ],
  };
}

/** Shows the lyrics and the first take as soon as each is available. */
export function earlySongMessage(job: JobView): Message {
  const [first] = job.result?.songs ?? [];
  return present({
    title: first?.title || undefined,
    ...excerptOf(job),
    fields: songFields(job),
    media: first?.audioUrl ? [takeMedia(job, 0)] : undefined,
    actions: [
      ...(first?.streamUrl && !first.audioUrl
        ? [{ type: 'link' as const, url: first.streamUrl, label: 'Listen', icon: 'listen' as const }]
        : []),
      ...lyricsButton(job),
    ],
  });
}

/** The beginning of the lyrics, in the same place while the song is created and afterwards. */
function excerptOf(job: JobView): Pick<Message, 'text'> {
  const lyrics = lyricsOf(job);
  return lyrics ? { text: lyricsExcerpt(lyrics) } : {};
}

const lyricsButton = (job: JobView): ActionButton[] =>
  lyricsOf(job) ? [songButton(job, 'lyrics', { label: 'Lyrics', icon: 'lyrics' })] : [];

interface RequestOptions {
  readonly mode?: string | undefined;
  readonly prompt?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly title?: string | undefined;
  readonly style?: string | undefined;
  /** In seconds. */
  readonly from?: number | undefined;
}

/** The options that a job stores, to show them with the result. */
export function storedOptions({
  mode,
  prompt,
  lyrics,
  title,
  style,
  from,
}: RequestOptions): Record<string, string> {
  const texts = {
    mode,
    prompt: prompt && shortened(prompt, LONGEST_OPTION),
    lyrics: lyrics && shortened(lyrics, LONGEST_LYRICS),
    title,
    style: style && shortened(style, LONGEST_OPTION),
    from: from === undefined ? undefined : duration(from),
  };
  return Object.fromEntries(
    Object.entries(texts).flatMap(([option, text]) => (text?.trim() ? [[option, text]] : [])),
  );
}

/** The request, because some platforms do not show the command. Leaves out what the rest of the message shows. */
function requestFields(job: JobView, { title = '', fields = [] }: Message): Field[] {
  const { options = {} } = job;
  const shown = [title, ...fields.map(({ value }) => value)].map(normalise);
  return Object.entries(options).flatMap(([option, value]) => {
    const isElsewhere = option === 'mode' || (option === 'lyrics' && lyricsOf(job) !== undefined);
    const isShown = isElsewhere || shown.some((text) => text.includes(normalise(value)));
    shown.push(normalise(value));
    return isShown ? [] : [{ name: option === 'prompt' ? promptName(options) : capitalised(option), value }];
  });
}

/** An extension has lyrics instead of a description. */
const promptName = ({ mode }: NonNullable<JobView['options']>): string =>
  mode === 'extend' ? 'New part' : 'Description';

/** Lowercase words between spaces, so that a search finds whole words only. */
function normalise(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{S}]+/gu, ' ')
    .trim()} `;
}

/** Style and voice. The label shows whether the style was derived. */
function songFields({ work, result }: JobView): Field[] {
  const request = 'request' in work && 'style' in work.request ? work.request : undefined;
  const style = request?.style ?? result?.songs.find((song) => song.style !== undefined)?.style;
  const isDerived = work.route === 'music.generate' && work.roughStyle !== undefined;
  const voice = 'voiceName' in work ? work.voiceName : undefined;
  return [
    ...(style ? [{ name: isDerived ? 'Style (from your description)' : 'Style', value: style }] : []),
    ...(voice ? [{ name: 'Voice', value: voice }] : []),
  ];
}

/** The buttons of each take, then those of the song. */
function songButtons(job: JobView): Button[] {
  const songs = job.result?.songs ?? [];
  return [
    ...songs.slice(0, TAKES_WITH_BUTTONS).flatMap((_, index) => takeButtons(job, index)),
    ...pageLink(job, 'Open page'),
    ...lyricsButton(job),
    ...(job.work.route === 'music.extend' ? [] : [changeButton(job)]),
    againButton(job),
    ...(job.taskId && songs.length > 0 ? [songButton(job, 'cover', COVER_ART)] : []),
    ...(job.pageUrl === undefined ? [] : [songButton(job, 'page', PAGE)]),
  ];
}

type ButtonText = Pick<ActionButton, 'label' | 'short' | 'icon' | 'hint' | 'group' | 'item'>;

const COVER_ART: ButtonText = {
  label: 'Cover art',
  icon: 'cover',
  hint: 'Create new cover art for this song',
};
const PAGE: ButtonText = { label: 'Page link', icon: 'page', hint: 'Get or remove the public link' };

/** Three buttons for each take, so that two takes form a grid. The rest have hints, and go into the menu. */
const TAKE_ACTIONS: readonly (Pick<ButtonText, 'icon' | 'hint'> & { action: string; name: string })[] = [
  { action: 'play', name: 'Play in voice', icon: 'play' },
  { action: 'extend', name: 'Extend', icon: 'extend' },
  { action: 'stems', name: 'Stems', icon: 'stems' },
  { action: 'karaoke', name: 'Karaoke', icon: 'karaoke', hint: 'Synced lyrics for every line' },
  { action: 'wav', name: 'WAV', icon: 'wav', hint: 'A file with lossless audio' },
  { action: 'video', name: 'Music video', icon: 'video', hint: 'A video with the cover art' },
  { action: 'voice', name: 'Save voice', icon: 'voice', hint: 'Sing new songs with this voice' },
];

const NEEDS_VOCALS: ReadonlySet<string> = new Set(['karaoke', 'voice']);

/** The buttons of one take. With several takes, the labels have a number. */
function takeButtons(job: JobView, index: number): ActionButton[] {
  const songs = job.result?.songs ?? [];
  if (!job.taskId || songs[index]?.audioId === undefined) return [];
  // Only Discord servers have voice channels.
  const canPlay = job.address.platform === 'discord' && serverOf(job.address) !== undefined;
  const hasVocals = hasVoice(job);
  const number = index + 1;
  return TAKE_ACTIONS.filter(
    ({ action }) => (action !== 'play' || canPlay) && (hasVocals || !NEEDS_VOCALS.has(action)),
  ).map(({ action, name, ...rest }) => {
    const isOnly = songs.length === 1;
    const text: ButtonText = {
      label: isOnly ? name : numbered(name, `take ${number}`),
      short: isOnly ? name : numbered(name, String(number)),
      ...rest,
      group: isOnly ? 'This song' : `Take ${number}`,
      ...(!isOnly && { item: name }),
    };
    return songButton(job, action, text, index);
  });
}

/** As `Extend 1`, and `Play 1 in voice`. */
const numbered = (name: string, take: string): string =>
  name.endsWith(' in voice') ? name.replace(/ in voice$/, ` ${take}$&`) : `${name} ${take}`;

/** Song actions belong to /song, even for songs from another command. */
function songButton(
  { id }: JobView,
  action: string,
  { label, ...text }: ButtonText,
  index = 0,
): ActionButton {
  return { ...button({ id, command: 'song' }, action, label, index), ...text };
}

function takeMedia(job: JobView, index: number): MediaItem {
  const { audioUrl = '', durationSeconds, title, lyrics, imageUrl } = job.result?.songs[index] ?? {};
  const label = `Take ${index + 1}`;
  const songLyrics = lyricsOf(job);
  // An extension has the title of its original, but not its file name.
  const name = job.work.route === 'music.extend' ? `${titleOf(job)} (extended)` : titleOf(job);
  return {
    kind: 'audio',
    name: withTake(name, index),
    source: { type: 'remote', url: audioUrl },
    caption: durationSeconds === undefined ? label : `${label} · ${duration(durationSeconds)}`,
    tags: present({
      title: title ?? titleOf(job),
      artist: artistOf(job),
      lyrics: songLyrics && (lyrics?.trim() ? lyrics : songLyrics),
      coverUrl: imageUrl,
    }),
  };
}

/** An earlier song: its buttons, without files. */
export function songCard(job: JobView, index: number): Message {
  const lyrics = lyricsOf(job);
  return {
    title: takeName({ job, index }).replace(/[“”]/g, ''),
    ...(lyrics ? { text: lyricsMarkdown(lyrics) } : {}),
    fields: [...songFields(job), ...lineage(job).fields, { name: 'Created', value: longDay(job.createdAt) }],
    footer: requestedBy(job),
    actions: songButtons(job),
  };
}

export function resultMessage(job: JobView): Message {
  return (DERIVED_MESSAGES[job.work.route] ?? songMessage)(job);
}
