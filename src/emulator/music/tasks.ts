import type { FastifyRequest } from 'fastify';
import { type EmulatorContext, keepFile, makeFile, produceOne } from '../context.ts';
import type { Stage } from '../fault-hooks.ts';
import { DownloadError } from '../files.ts';
import { RefusedRequest } from '../requests.ts';
import type { TaskReport } from '../shapes.ts';
import type { Audio, MusicTask, MusicTaskKind } from '../store.ts';
import { UnusableInputError } from '../studio/studio.ts';
import { chooseGenre, genreName } from '../studio/synthesizer/genre.ts';
import type { SongRecipe } from '../studio/synthesizer/recipe.ts';
import { titleFrom } from '../writing.ts';

/** Creates a task whose ID has the format of upstream: 32 hexadecimal digits. */
export function createTask({ store, randomId }: EmulatorContext, kind: MusicTaskKind): MusicTask {
  return store.tasks.add({ id: randomId().replaceAll('-', ''), kind, audios: [], state: 'working' });
}

/**
 * Accepts a task. Its stages run in the background and report to the callback URL. Resolves to the response of the
 * submission.
 */
export async function acceptTask(
  context: EmulatorContext,
  request: FastifyRequest,
  task: MusicTask,
  callBackUrl: string,
  stages: readonly Stage[],
): Promise<Record<string, unknown>> {
  const fault = context.faultHooks.reporting?.(request);
  const sendBody = (body: string): Promise<boolean> => context.callbacks.deliver(callBackUrl, body);
  const send = (report: TaskReport, taskId = task.id): Promise<boolean> =>
    sendBody(JSON.stringify(context.shape.callback(taskId, report)));
  const finish = async (sending: Promise<boolean>, state: 'complete' | 'failed'): Promise<void> => {
    // A fast client may use the task as soon as the callback is sent.
    task.state = state;
    if (!(await sending)) task.state = 'undelivered';
  };
  const fail = (code: number, message: string): Promise<void> =>
    finish(send({ kind: 'failure', of: task.kind, code, message }), 'failed');

  const run = async (): Promise<void> => {
    try {
      if (fault) await fault.report({ send, sendBody, finish, fail }, stages);
      else await runStages();
    } catch (error) {
      if (context.closing.aborted) return;
      if (error instanceof DownloadError)
        await fail(451, `The file could not be downloaded: ${error.message}.`);
      else if (error instanceof UnusableInputError)
        await fail(400, `The source could not be used: ${error.message}.`);
      else await fail(500, 'The server failed.');
    }
  };
  const runStages = async (): Promise<void> => {
    let elapsed = 0;
    for (const [index, stage] of stages.entries()) {
      await context.pause(stage.atSeconds - elapsed);
      elapsed = stage.atSeconds;
      const report = await stage.make();
      if (index === stages.length - 1) await finish(send(report), 'complete');
      else await send(report);
    }
  };

  if (fault?.isEarly) await run();
  else context.background(run);
  return context.shape.accepted(task.id);
}

const coverSize = 512;
/** The time of each stage, in seconds after the submission. */
const stageSeconds = { text: 1, first: 2.5, complete: 4 } as const;

/**
 * Accepts a task that creates a song from each recipe, with callbacks in stages: lyrics, first song, all songs.
 * `prepare` completes before the first callback, so that no callback contains a song without its source.
 */
export function acceptSongs(
  context: EmulatorContext,
  request: FastifyRequest,
  { model, callBackUrl }: { readonly model: string; readonly callBackUrl: string },
  recipes: readonly SongRecipe[],
  prepare?: (task: MusicTask) => Promise<void>,
): Promise<Record<string, unknown>> {
  const task = createTask(context, 'songs');
  for (const recipe of recipes) {
    const audio: Audio = {
      id: context.randomId(),
      recipe: recipe.title === '' ? { ...recipe, title: titleFrom(recipe.prompt) } : recipe,
      model,
      tags: recipe.style === '' ? genreName(chooseGenre('', recipe.prompt)) : recipe.style,
      createdAt: context.now(),
      seconds: null,
      audioUrl: null,
      imageUrl: null,
    };
    task.audios.push(context.store.audios.add(audio));
  }
  const stage = (name: keyof typeof stageSeconds, songs: number): Stage => ({
    atSeconds: stageSeconds[name],
    make: async () => {
      if (name === 'text') await prepare?.(task);
      const unrendered = task.audios.slice(0, songs).filter((audio) => audio.audioUrl === null);
      await Promise.all(unrendered.map((audio) => render(context, audio)));
      return { kind: 'songs', stage: name, items: task.audios.map((audio) => ({ ...audio })) };
    },
  });
  const stages = [stage('text', 0), stage('first', 1), stage('complete', recipes.length)];
  return acceptTask(context, request, task, callBackUrl, stages);
}

/** Renders a song and its image. */
async function render(context: EmulatorContext, audio: Audio): Promise<void> {
  const { recipe } = audio;
  const prompt = picturePrompt(recipe, recipe.take);
  const [song, imageUrl] = await Promise.all([
    produceOne(context, { kind: 'song', recipe }),
    makeFile(context, { kind: 'picture', prompt, width: coverSize, height: coverSize }),
  ]);
  audio.audioUrl = keepFile(context, song);
  audio.imageUrl = imageUrl;
  audio.seconds = song.seconds ?? null;
}

/** Returns the prompt for a song's images. Each number gives a different image. */
export function picturePrompt(recipe: SongRecipe, number: number): string {
  return `${recipe.title} ${recipe.prompt.slice(0, 200)} ${recipe.style}${' '.repeat(number)}`;
}

/** Returns a completed song task. Throws RefusedRequest for unknown, unfinished, failed or other tasks (contract, States). */
export function completedSongTask(context: EmulatorContext, taskId: string): MusicTask {
  const task = context.store.tasks.get(taskId);
  if (task === undefined) throw new RefusedRequest('not found', `taskId: no task ${taskId}`);
  if (task.kind !== 'songs') throw new RefusedRequest('invalid', `taskId: task ${taskId} is not a song task`);
  if (task.state !== 'complete')
    throw new RefusedRequest('invalid', `taskId: task ${taskId} ${incomplete[task.state]}`);
  return task;
}

const incomplete = {
  working: 'is not complete yet',
  failed: 'failed',
  undelivered: 'is not complete: none of its callbacks was accepted',
} as const;

/** Returns a song of a completed task. */
export function completedAudio(context: EmulatorContext, taskId: string, audioId: string): Audio {
  const task = completedSongTask(context, taskId);
  const audio = task.audios.find((candidate) => candidate.id === audioId);
  if (audio === undefined)
    throw new RefusedRequest('not found', `audioId: task ${taskId} has no audio ${audioId}`);
  return audio;
}
