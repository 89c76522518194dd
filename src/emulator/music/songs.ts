import { type EmulatorContext, formatTime } from '../context.ts';
import { titleFrom } from '../lyrics.ts';
import type { Outcome, SongItem, SongStage } from '../shapes.ts';
import type { Audio, MusicModel, MusicTask } from '../store.ts';
import { chooseGenre } from '../synth/genre.ts';
import type { SongRecipe } from '../synth/recipe.ts';
import type { Stage } from './task.ts';

const coverSize = 512;
/** A demonstration's pace, in seconds after the submission. */
const pace = { text: 1, first: 2.5, complete: 4 } as const;

/** Makes the task's audio items, one for each recipe, before any of them sounds. */
export function addAudios(
  context: EmulatorContext,
  task: MusicTask,
  model: MusicModel,
  recipes: readonly SongRecipe[],
): readonly Audio[] {
  for (const recipe of recipes) {
    const genre = chooseGenre(recipe.style, recipe.prompt);
    const audio: Audio = {
      id: context.randomId(),
      taskId: task.id,
      recipe: recipe.title === '' ? { ...recipe, title: titleFrom(recipe.prompt) } : recipe,
      model,
      tags: recipe.style === '' ? genre.name : recipe.style,
      createdAt: context.now(),
      seconds: null,
      audioUrl: null,
      imageUrl: null,
    };
    task.audios.push(context.store.audios.add(audio));
  }
  return task.audios;
}

/** The stages of a song task: its words, the first song, all songs. */
export function songStages(context: EmulatorContext, task: MusicTask): Stage[] {
  const outcome = (stage: SongStage): Outcome => ({ kind: 'songs', stage, items: task.audios.map(songItem) });
  return [
    { atSeconds: pace.text, make: async () => outcome('text') },
    {
      atSeconds: pace.first,
      make: async () => {
        const [first] = task.audios;
        if (first !== undefined) await record(context, first);
        return outcome('first');
      },
    },
    {
      atSeconds: pace.complete,
      make: async () => {
        await Promise.all(
          task.audios.filter((audio) => audio.audioUrl === null).map((audio) => record(context, audio)),
        );
        return outcome('complete');
      },
    },
  ];
}

/** Records a song and draws its picture. */
async function record(context: EmulatorContext, audio: Audio): Promise<void> {
  const { recipe } = audio;
  const [pieces, pictures] = await Promise.all([
    context.studio.produce({ kind: 'song', recipe }),
    context.studio.produce({
      kind: 'picture',
      prompt: picturePrompt(recipe, recipe.take),
      avoid: '',
      width: coverSize,
      height: coverSize,
      watermark: false,
    }),
  ]);
  const [song] = pieces;
  const [picture] = pictures;
  if (song === undefined || picture === undefined) throw new Error('the studio made no song');
  audio.audioUrl = context.files.url(context.files.add(song.bytes, song.contentType));
  audio.imageUrl = context.files.url(context.files.add(picture.bytes, picture.contentType));
  audio.seconds = song.seconds ?? null;
}

/** What a song's pictures are drawn from; each number gives another picture. */
export function picturePrompt(recipe: SongRecipe, number: number): string {
  return `${recipe.title} ${recipe.prompt.slice(0, 200)} ${recipe.style}${' '.repeat(number)}`;
}

function songItem(audio: Audio): SongItem {
  const { recipe } = audio;
  return {
    id: audio.id,
    audioUrl: audio.audioUrl,
    imageUrl: audio.imageUrl,
    prompt: recipe.lyrics ?? recipe.prompt,
    modelName: audio.model,
    title: recipe.title,
    tags: audio.tags,
    createTime: formatTime(audio.createdAt),
    duration: audio.seconds,
  };
}
