/** What a song says: while it is made, and when it is there, with a row of buttons for each take. */
import { dayOf } from '../../src/core/clock.ts';
import { serverOf } from '../../src/core/invocation.ts';
import type { JobView } from '../../src/core/job.ts';
import {
  type ActionButton,
  againButton,
  type Button,
  button,
  type Field,
  type MediaItem,
  type Message,
} from '../../src/core/message.ts';
import { artistOf, coverWords, hasVoice, lyricsOf, titleOf } from '../../src/core/music/song.ts';
import { present } from '../../src/core/util/present.ts';
import { duration } from '../../src/core/util/words.ts';
import { askedBy, lineage, shortened } from '../text/phrases.ts';
import { DERIVED_MESSAGES } from './derived-messages.ts';
import { lyricsMarkdown } from './lyrics-text.ts';
import { takeName, withTake } from './takes.ts';

/** Characters of one option in a result. */
const MOST_ASKED = 500;
const MOST_LYRICS = 160;
/** The gateway makes two, and platforms show 25 buttons a message. */
const TAKES_WITH_BUTTONS = 2;

function songMessage(job: JobView): Message {
  const songs = job.result?.songs ?? [];
  const [words] = job.result?.lyrics ?? [];
  if (songs.length === 0 && words !== undefined) return wordsMessage(job, words.text);
  const cover = songs.find(({ imageUrl }) => imageUrl !== undefined)?.imageUrl;
  const { fields, actions } = lineage(job);
  const covers: MediaItem[] = cover
    ? [
        {
          kind: 'image',
          name: 'cover',
          source: { type: 'remote', url: cover },
          cover: true,
          alt: coverWords(job),
        },
      ]
    : [];
  const media = [
    ...covers,
    ...songs.flatMap((song, index) => (song.audioUrl ? [takeMedia(job, index)] : [])),
  ];
  const title = titleOf(job);
  const facts = [...songFields(job), ...fields];
  return {
    title,
    fields: [...askedFor(job, { title, fields: facts }), ...facts, askedBy(job)],
    media,
    actions: [...songButtons(job), ...listenLink(job, 'Listen'), ...actions],
  };
}

/** A link to the page of a song, where there is one. */
export function listenLink({ pageUrl }: JobView, label: string, part = ''): Button[] {
  return pageUrl === undefined ? [] : [{ type: 'link', url: `${pageUrl}${part}`, label }];
}

/** The words of a song that came after its person had been told that it would not come. */
function wordsMessage(job: JobView, words: string): Message {
  const title = titleOf(job);
  return {
    title,
    text: `The lyrics arrived too late to create the song automatically. To create it, press **Sing it**.\n\n${lyricsMarkdown(words)}`,
    fields: [...askedFor(job, { title }), askedBy(job)],
    actions: [
      { ...button({ id: job.id, command: 'lyrics' }, 'sing', 'Sing it'), emphasis: 'primary' },
      button(job, 'change', 'Change'),
      againButton(job),
    ],
  };
}

/** Lyrics as soon as there are words, and the first take as soon as it plays. */
export function earlySongMessage(job: JobView): Message {
  const [first] = job.result?.songs ?? [];
  const lyrics = lyricsOf(job);
  const listen =
    !first?.audioUrl && first?.streamUrl
      ? `[Listen while it is being created](<${first.streamUrl}>)`
      : undefined;
  const text = [listen, lyrics && lyricsMarkdown(lyrics)].filter(Boolean).join('\n\n');
  return present({
    title: first?.title || undefined,
    text: text || undefined,
    fields: songFields(job),
    media: first?.audioUrl ? [takeMedia(job, 0)] : undefined,
  });
}

interface Remembered {
  readonly mode?: string | undefined;
  readonly prompt?: string | undefined;
  readonly lyrics?: string | undefined;
  readonly title?: string | undefined;
  readonly style?: string | undefined;
  /** The second to go on from. */
  readonly from?: number | undefined;
}

/** What a job remembers of a request. */
export function rememberAsked({
  mode,
  prompt,
  lyrics,
  title,
  style,
  from,
}: Remembered): Record<string, string> {
  const texts = {
    mode,
    prompt: prompt && shortened(prompt, MOST_ASKED),
    lyrics: lyrics && shortened(lyrics, MOST_LYRICS),
    title,
    style: style && shortened(style, MOST_ASKED),
    from: from === undefined ? undefined : duration(from),
  };
  return Object.fromEntries(
    Object.entries(texts).flatMap(([option, words]) => (words?.trim() ? [[option, words]] : [])),
  );
}

/** What was asked for, without what the message says already: where no command is shown, nothing else does. */
function askedFor(job: JobView, { title = '', fields = [] }: Message): Field[] {
  const { asked: known = {} } = job;
  const shown = [title, ...fields.map(({ value }) => value)].map(bare);
  const parts = Object.entries(known).flatMap(([option, words]) => {
    const isShown = option !== 'mode' && shown.some((text) => text.includes(bare(words)));
    shown.push(bare(words));
    if (isShown) return [];
    return [option === 'prompt' ? words : `${capitalised(option)}: ${words}`];
  });
  return parts.length === 0 ? [] : [{ name: 'Request', value: parts.join('\n') }];
}

/** Only its words, each between spaces, so that a part of a word is not found. */
function bare(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{S}]+/gu, ' ')
    .trim()} `;
}

function capitalised(option: string): string {
  return `${option.slice(0, 1).toUpperCase()}${option.slice(1)}`;
}

/** Style and voice; what was derived is said to be so. */
function songFields({ work, result }: JobView): Field[] {
  const request = 'request' in work && 'style' in work.request ? work.request : undefined;
  const style = request?.style ?? result?.songs.find((song) => song.style !== undefined)?.style;
  const derived = work.route === 'music.generate' && work.roughStyle !== undefined;
  const voice = 'voiceName' in work ? work.voiceName : undefined;
  return [
    ...(style ? [{ name: derived ? 'Style (from your words)' : 'Style', value: style }] : []),
    ...(voice ? [{ name: 'Voice', value: voice }] : []),
  ];
}

/** What people do most is first and primary, next to it the words; then every take's buttons and those of the whole song. */
function songButtons(job: JobView): Button[] {
  const songs = job.result?.songs ?? [];
  const own = songs.slice(0, TAKES_WITH_BUTTONS).flatMap((_, index) => takeButtons(job, index));
  const words = lyricsOf(job) ? [songButton(job, 'lyrics', 'Lyrics')] : [];
  const whole = [
    ...(job.taskId && songs.length > 0 ? [songButton(job, 'cover', 'Cover art')] : []),
    ...(job.work.route === 'music.extend' ? [] : [button(job, 'change', 'Change')]),
    againButton(job),
    ...(job.pageUrl === undefined ? [] : [songButton(job, 'page', 'Page')]),
  ];
  const [first, ...others] = own;
  const most = first ? [{ ...first, emphasis: 'primary' as const }] : [];
  return [...most, ...words, ...others, ...whole];
}

/** What can be made of one take. Their names tell the takes apart. */
function takeButtons(job: JobView, index: number): ActionButton[] {
  if (!job.taskId || job.result?.songs[index]?.audioId === undefined) return [];
  const voiced = hasVoice(job);
  const suffix = (job.result?.songs.length ?? 0) > 1 ? ` take ${index + 1}` : '';
  const actions = [
    ['extend', 'Extend'],
    // Elsewhere there are no voice channels.
    ...(job.address.platform === 'discord' && serverOf(job.address) !== undefined
      ? [['play', 'Play here']]
      : []),
    ['stems', 'Stems'],
    ...(voiced ? [['karaoke', 'Karaoke']] : []),
    ['video', 'Music video'],
    ['wav', 'WAV'],
    ...(voiced ? [['voice', 'Save voice']] : []),
  ] as const satisfies readonly (readonly string[])[];
  return actions.map(([action = '', label = '']) => songButton(job, action, `${label}${suffix}`, index));
}

/** The studio's actions belong to /song, also for songs that another command made. */
function songButton({ id }: JobView, action: string, label: string, index = 0): ActionButton {
  return button({ id, command: 'song' }, action, label, index);
}

function takeMedia(job: JobView, index: number): MediaItem {
  const { audioUrl = '', durationSeconds, title, lyrics, imageUrl } = job.result?.songs[index] ?? {};
  const number = `Take ${index + 1}`;
  const sung = lyricsOf(job);
  return {
    kind: 'audio',
    name: withTake(titleOf(job), index),
    source: { type: 'remote', url: audioUrl },
    caption: durationSeconds === undefined ? number : `${number} · ${duration(durationSeconds)}`,
    tags: present({
      title: title ?? titleOf(job),
      artist: artistOf(job),
      lyrics: sung && (lyrics?.trim() ? lyrics : sung),
      coverUrl: imageUrl,
    }),
  };
}

/** A song that is found again: no files, its buttons, and a link to its message. */
export function songCard(job: JobView, index: number): Message {
  const lyrics = lyricsOf(job);
  return {
    title: takeName({ job, index }).replace(/[“”]/g, ''),
    ...(lyrics ? { text: lyricsMarkdown(lyrics) } : {}),
    fields: [
      ...songFields(job),
      ...lineage(job).fields,
      askedBy(job),
      { name: 'Created', value: dayOf(job.createdAt) },
    ],
    actions: [...songButtons(job), ...listenLink(job, 'Listen')],
  };
}

/** The result of any work of the music studio. */
export function resultMessage(job: JobView): Message {
  return (DERIVED_MESSAGES[job.work.route] ?? songMessage)(job);
}
