/** Messages of work on a song: cover art, karaoke, WAV, music video and saved voice. */
import type { JobView } from '../../src/core/job.ts';
import { againButton, button, type MediaItem, type Message, plain } from '../../src/core/message.ts';
import { artistOf, lyricsOf } from '../../src/core/music/song.ts';
import { present } from '../../src/core/util/present.ts';
import { duration } from '../../src/core/util/words.ts';
import type { LyricLine } from '../../src/core/work.ts';
import { lineage, requestedBy } from '../text/phrases.ts';

/** By route. Other routes create songs. */
export const DERIVED_MESSAGES: Partial<Record<JobView['work']['route'], (job: JobView) => Message>> = {
  'music.generateCover': coverArtMessage,
  'music.timestampedLyrics': karaokeMessage,
  'music.wavGenerate': wavMessage,
  'music.mp4Generate': musicVideoMessage,
  'music.generatePersona': savedVoiceMessage,
};

/** The name of the source song, without quotation marks. */
export function sourceName({ basedOn }: Pick<JobView, 'basedOn'>): string {
  return (basedOn ?? 'Your song').replace(/[“”]/g, '');
}

function coverArtMessage(job: JobView): Message {
  const name = sourceName(job);
  const images = job.result?.images ?? [];
  return derived(job, `Cover art for ${name}`, {
    media: images.map((source, index): MediaItem => {
      const number = images.length > 1 ? ` ${index + 1}` : '';
      return {
        kind: 'image',
        name: `${name} - cover art${number}`,
        source,
        alt: `Cover art ${index + 1} for ${name}`,
      };
    }),
  });
}

function wavMessage(job: JobView): Message {
  const name = sourceName(job);
  const url = job.result?.wavUrl;
  const media: MediaItem[] = url
    ? [{ kind: 'audio', name, source: { type: 'remote', url }, caption: 'Lossless', ...fromSong(job, name) }]
    : [];
  return derived(job, `WAV of ${name}`, { media });
}

/** Copies the song's tags to the WAV. The song replaces a WAV that is too large to send. */
function fromSong({ work, parentJob }: JobView, name: string): Pick<MediaItem, 'tags' | 'smaller'> {
  if (work.route !== 'music.wavGenerate' || parentJob === undefined) return {};
  const song = parentJob.result?.songs.find(({ audioId }) => audioId === work.request.audioId);
  if (song === undefined) return {};
  const { audioUrl, title = name, lyrics, imageUrl } = song;
  return present({
    tags: present({ title, artist: artistOf(parentJob), lyrics, coverUrl: imageUrl }),
    smaller:
      audioUrl === undefined ? undefined : { name, source: { type: 'remote' as const, url: audioUrl } },
  });
}

function musicVideoMessage(job: JobView): Message {
  const name = sourceName(job);
  const url = job.result?.videoUrl;
  const media: MediaItem[] = url
    ? [{ kind: 'video', name, source: { type: 'remote', url }, alt: `Music video for ${name}` }]
    : [];
  return derived(job, `Music video for ${name}`, { media });
}

function karaokeMessage(job: JobView): Message {
  const name = sourceName(job);
  const { file, lines = [] } = job.result?.karaoke ?? {};
  if (lines.length === 0) {
    return derived(job, `Karaoke for ${name}`, {
      text: 'The service found no lyrics in this take. Try another take.',
    });
  }
  const caption = 'Synced lyrics (.lrc)';
  const media: MediaItem[] = file ? [{ kind: 'file', name, source: { type: 'stored', file }, caption }] : [];
  return derived(job, `Karaoke for ${name}`, { text: preview(lines), media });
}

/** Lines with their times, and section names in bold. */
function preview(lines: readonly LyricLine[]): string {
  return lines
    .map(({ startSeconds, text, section }, index) => {
      const heading = section === undefined ? '' : `${index === 0 ? '' : '\n'}**${plain(section)}**\n`;
      return `${heading}\`${duration(Math.floor(startSeconds))}\` ${plain(text)}`;
    })
    .join('\n');
}

function savedVoiceMessage(job: JobView): Message {
  const { work, result } = job;
  const name = work.route === 'music.generatePersona' ? work.request.name : 'The voice';
  const { fields, actions } = lineage(job);
  if (result?.voice?.outcome !== 'saved') {
    return {
      title: 'This voice is already saved',
      text: "Only one voice can be created from each take, and this take's voice already exists. Find it with /voices show, or save the voice of another take.",
      fields,
      actions,
    };
  }
  const sing = button({ id: job.id, command: 'song' }, 'sing', 'Sing with it');
  return {
    title: `The voice “${name}” is saved`,
    text: `Choose it as “voice” in /song and /remix. To see the saved voices, use /voices show.`,
    fields: [...fields, { name: 'Saved by', value: job.person.displayName }],
    actions: [{ ...sing, icon: 'karaoke', emphasis: 'primary' }, ...actions],
  };
}

/** The title names the source. */
function derived(job: JobView, title: string, rest: Pick<Message, 'text' | 'media'>): Message {
  const isRecording = job.work.route === 'music.wavGenerate' || job.work.route === 'music.mp4Generate';
  const song = isRecording ? job.parentJob : undefined;
  const lyricsButtons =
    song && lyricsOf(song)
      ? [{ ...button({ id: song.id, command: 'song' }, 'lyrics', 'Lyrics'), icon: 'lyrics' as const }]
      : [];
  return {
    title,
    ...rest,
    actions: [...lyricsButtons, againButton(job), ...lineage(job).actions],
    footer: requestedBy(job),
  };
}
