import { type Context, defineCommand, type OptionDeclarations, type OptionValues } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import type { MusicModel } from '../src/gateway/music.ts';
import { actionId, type Button, type Field, type MediaItem, type Message, plain } from '../src/message.ts';
import type { JobView, Work } from '../src/work.ts';
import { splitStems } from './stems.ts';
import { clip, duration, quoted, words } from './text.ts';

const MODELS = ['V5', 'V4_5ALL', 'V4_5PLUS', 'V4_5', 'V4'] as const satisfies readonly MusicModel[];

const options = {
  prompt: { type: 'text', description: 'What the song is about', maximumLength: 3000, multiline: true },
  title: { type: 'text', description: 'Its title', maximumLength: 80 },
  style: { type: 'text', description: 'Its style, such as “lofi, rainy, soft piano”', maximumLength: 1000 },
  lyrics: {
    type: 'text',
    description: 'The words to sing; [Verse] and [Chorus] mark sections',
    maximumLength: 5000,
    multiline: true,
  },
  instrumental: { type: 'flag', description: 'Without a voice' },
  voice: { type: 'text', description: 'A kept voice', maximumLength: 200 },
  model: {
    type: 'choice',
    description: 'The song model',
    choices: MODELS.map((id) => ({ name: id, value: id })),
  },
} as const satisfies OptionDeclarations;

export const song = defineCommand({
  name: 'song',
  description: 'Make a song',
  options,
  messageMenu: { label: 'Make a song of this', option: 'prompt' },

  async run({ options: chosen }, context) {
    const model = songModel(await context.models.resolve('song', chosen.model));
    const work = compose(chosen, model, context);
    const name = chosen.title ?? chosen.prompt ?? firstLine(chosen.lyrics) ?? 'a song';
    return context.jobs.start({ work, title: `Composing ${quoted(name)}` });
  },

  early(job) {
    const [first] = job.result?.songs ?? [];
    const lyrics = lyricsOf(job);
    return {
      ...(first?.title ? { title: first.title } : {}),
      ...(lyrics ? { text: plain(lyrics) } : {}),
      ...(first?.audioUrl ? { media: [take(job, 0)] } : {}),
    };
  },

  done(job) {
    const songs = job.result?.songs ?? [];
    const [first] = songs;
    const style = first?.style ?? requestOf(job)?.style;
    const fields: Field[] = [
      ...(style ? [{ name: 'Style', value: style }] : []),
      { name: 'Asked by', value: job.person.displayName },
    ];
    const cover = songs.find(({ imageUrl }) => imageUrl !== undefined)?.imageUrl;
    const media: MediaItem[] = [
      ...(cover
        ? [
            {
              kind: 'image' as const,
              name: 'cover',
              source: { type: 'remote' as const, url: cover },
              cover: true,
              alt: `Cover of ${titleOf(job)}`,
            },
          ]
        : []),
      ...songs.flatMap((item, index) => (item.audioUrl ? [take(job, index)] : [])),
    ];
    return { title: titleOf(job), fields, media, actions: buttons(job) } satisfies Message;
  },

  actions: {
    lyrics: {
      async run({ job }) {
        const lyrics = lyricsOf(job);
        const message: Message = lyrics
          ? { title: titleOf(job), text: plain(lyrics) }
          : { text: 'This song has no lyrics.' };
        return { type: 'message', visibility: 'person', message };
      },
    },
    stems: { run: ({ job, index }, context) => splitStems(job, index, 'separate_vocal', context) },
  },
});

/** Simple mode for a bare description; any of title, style, lyrics and voice means custom mode. */
function compose(chosen: OptionValues<typeof options>, model: MusicModel, { limits }: Context): Work {
  const { prompt, title, style, lyrics, voice } = chosen;
  const instrumental = chosen.instrumental ?? false;
  const bounds = limits.music.models[model];
  if (instrumental && lyrics !== undefined) {
    throw new UserError('An instrumental has no lyrics. Leave out one of the two.', 'instrumental');
  }
  const about = prompt ?? title ?? firstLine(lyrics);
  if (about === undefined) {
    throw new UserError('Tell me what the song is about, as in: /song a tune for a rainy evening', 'prompt');
  }
  const custom = title !== undefined || style !== undefined || lyrics !== undefined || voice !== undefined;
  if (!custom) {
    within(about, bounds.simplePrompt, 'description', 'prompt', 'Words to sing go into “lyrics”.');
    return { route: 'music.generate', request: { customMode: false, instrumental, model, prompt: about } };
  }
  if (lyrics !== undefined) within(lyrics, bounds.customPrompt, 'lyrics', 'lyrics');
  if (style !== undefined) within(style, bounds.style, 'style', 'style');
  if (title !== undefined) within(title, bounds.title, 'title', 'title');
  const roughStyle = style === undefined ? clip(about, bounds.style) : undefined;
  const writesLyrics = !instrumental && lyrics === undefined;
  return {
    route: 'music.generate',
    request: {
      customMode: true,
      instrumental,
      model,
      title: title ?? clip(about, bounds.title),
      style: style ?? clip(about, bounds.style),
      ...(lyrics === undefined ? {} : { prompt: lyrics }),
      ...(voice === undefined ? {} : { personaId: voice }),
    },
    ...(roughStyle === undefined ? {} : { roughStyle }),
    ...(writesLyrics ? { lyricsAbout: words(about, limits.music.lyricsPromptWords) } : {}),
  };
}

function within(text: string, most: number, what: string, option: string, wayOut = ''): void {
  if (text.length <= most) return;
  const sentence = `This ${what} has ${text.length} characters, and the model takes ${most}. Please shorten it. ${wayOut}`;
  throw new UserError(sentence.trim(), option);
}

function songModel(id: string): MusicModel {
  const model = MODELS.find((known) => known === id);
  if (!model)
    throw new UserError(`There is no song model “${id}”. The song models are ${MODELS.join(', ')}.`, 'model');
  return model;
}

function requestOf(job: JobView) {
  return job.work.route === 'music.generate' ? job.work.request : undefined;
}

function titleOf(job: JobView): string {
  return (
    job.result?.songs.find(({ title }) => title !== undefined)?.title ?? requestOf(job)?.title ?? 'Your song'
  );
}

/** What is sung: what the gateway says, else what was asked for. Nothing for instrumentals. */
function lyricsOf(job: JobView): string | undefined {
  const request = requestOf(job);
  if (request?.instrumental) return undefined;
  const sung = job.result?.songs.find(({ lyrics }) => lyrics !== undefined && lyrics.trim() !== '')?.lyrics;
  return sung ?? (request?.customMode ? request.prompt : undefined);
}

function take(job: JobView, index: number): MediaItem {
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

function buttons(job: JobView): Button[] {
  const songs = job.result?.songs ?? [];
  const button = (action: string, index: number, label: string): Button => ({
    type: 'action',
    id: actionId({ command: 'song', action, job: job.id, index }),
    label,
  });
  return [
    ...(lyricsOf(job) ? [button('lyrics', 0, 'Lyrics')] : []),
    ...songs.flatMap(({ audioId }, index) =>
      audioId && job.taskId
        ? [button('stems', index, songs.length > 1 ? `Stems ${index + 1}` : 'Stems')]
        : [],
    ),
    button('again', 0, 'Again'),
  ];
}

function firstLine(lyrics: string | undefined): string | undefined {
  return lyrics
    ?.split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '' && !/^\[.*\]$/.test(line));
}
