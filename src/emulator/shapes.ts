import type { Shape } from './options.ts';
import type { Audio, MusicTaskKind } from './store.ts';

/** What a callback has to say, before a shape decides how. */
export type TaskReport =
  | {
      readonly kind: 'songs';
      readonly stage: 'text' | 'first' | 'complete';
      readonly items: readonly Audio[];
    }
  | {
      readonly kind: 'lyrics';
      readonly variants: readonly { readonly title: string; readonly text: string }[];
    }
  | { readonly kind: 'cover'; readonly images: readonly string[] }
  /** Stem words in snake case (`backing_vocals`) with their URLs. */
  | { readonly kind: 'stems'; readonly stems: Readonly<Record<string, string>> }
  | { readonly kind: 'wav'; readonly url: string }
  | { readonly kind: 'video'; readonly url: string }
  | { readonly kind: 'failure'; readonly of: MusicTaskKind; readonly code: number; readonly message: string };

type Json = Record<string, unknown>;

/** `backing_vocals` as `backingVocals`. */
function camel(word: string): string {
  return word.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `backingVocals` as `backing_vocals`. */
function snake(word: string): string {
  return word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function mapKeys(record: Json, rename: (key: string) => string): Json {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [rename(key), value]));
}

/** How a shape fills what the contract does not show. */
interface ShapeRenderer {
  /** The answer to an accepted asynchronous submission. */
  accepted(taskId: string): Json;
  /** A synchronous result (persona, style); the members come in camel case. */
  result(result: Json): Json;
  /** The body of a callback. */
  callback(taskId: string, report: TaskReport): Json;
}
const success = (data: Json, msg = 'success'): Json => ({ code: 200, msg, data });
export const renderers: Readonly<Record<Shape, ShapeRenderer>> = {
  sunoapi: {
    accepted: (taskId) => success({ taskId }),
    result: (result) => success(result),
    callback: sunoapi,
  },
  flat: {
    accepted: (taskId) => ({ code: 200, msg: 'success', taskId }),
    result: (result) => ({ code: 200, msg: 'success', ...result }),
    callback: flat,
  },
  bare: {
    accepted: (taskId) => ({ task_id: taskId }),
    result: (result) => result,
    callback: bare,
  },
  nested: {
    accepted: (taskId) => ({ status: 'success', data: { task: { taskId, status: 'PENDING' } } }),
    result: (response) => ({ status: 'success', data: { response } }),
    callback: nested,
  },
};

/** Aligned words; the contract fixes `data.alignedWords[]` with `startS` and `endS`, only the word's name is open. */
export function renderAlignedWords(
  shape: Shape,
  words: readonly { text: string; startS: number; endS: number }[],
): Json {
  const wordName = shape === 'flat' || shape === 'bare' ? 'text' : 'word';
  const more = shape === 'sunoapi' ? { success: true, palign: 0 } : {};
  const alignedWords = words.map(({ text, ...times }) => ({ [wordName]: text, ...times, ...more }));
  if (shape === 'bare') return { data: { alignedWords } };
  if (shape === 'nested') return { status: 'success', data: { alignedWords } };
  return success({
    alignedWords,
    ...(shape === 'sunoapi' ? { waveformData: [], hootCer: 0, isStreamed: false } : {}),
  });
}

/** A song as a callback tells of it; URLs are null until the stage that has them. */
function songItem({ id, recipe, model, tags, audioUrl, imageUrl, createdAt, seconds }: Audio) {
  return {
    id,
    audioUrl,
    imageUrl,
    prompt: recipe.lyrics ?? recipe.prompt,
    modelName: model,
    title: recipe.title,
    tags,
    createTime: formatTime(createdAt),
    duration: seconds,
  };
}

/** A song as the public API names its members. */
function snakeItem(audio: Audio): Json {
  const { audioUrl, imageUrl, modelName, ...item } = songItem(audio);
  const urls = { audio_url: audioUrl ?? '', stream_audio_url: audioUrl ?? '', image_url: imageUrl ?? '' };
  return { ...item, model_name: modelName, ...urls, ...mapKeys(urls, (key) => `source_${key}`) };
}

function sunoapi(taskId: string, report: TaskReport): Json {
  switch (report.kind) {
    case 'songs': {
      const what = report.stage === 'complete' ? 'All' : report.stage;
      const data = { callbackType: report.stage, task_id: taskId, data: report.items.map(snakeItem) };
      return success(data, `${what} generated successfully.`);
    }
    case 'lyrics': {
      const data = report.variants.map((variant) => ({ ...variant, status: 'complete', errorMessage: '' }));
      return success({ callbackType: 'complete', taskId, data }, 'All generated successfully.');
    }
    case 'cover':
      return success({ taskId, images: report.images });
    case 'stems': {
      // The contract names `vocalUrl` and `instrumentalUrl`; the public API nests snake case. Both are sent.
      const names = mapKeys(report.stems, (stem) => camel(`${stem}_url`));
      const info = { ...mapKeys(report.stems, (stem) => `${stem}_url`), origin_url: '' };
      return success(
        { task_id: taskId, ...names, vocal_removal_info: info },
        'vocal Removal generated successfully.',
      );
    }
    case 'wav':
      return success({ task_id: taskId, audioWavUrl: report.url });
    case 'video':
      return success({ task_id: taskId, video_url: report.url }, 'MP4 generated successfully.');
    case 'failure': {
      const data = {
        songs: { callbackType: 'error', task_id: taskId, data: null },
        lyrics: { callbackType: 'error', taskId, data: null },
        cover: { taskId, images: null },
        stems: { task_id: taskId, vocal_removal_info: null },
        wav: { task_id: taskId, audioWavUrl: null },
        video: { task_id: taskId, video_url: null },
      } satisfies Record<MusicTaskKind, Json>;
      return { code: report.code, msg: report.message, data: data[report.of] };
    }
    default:
      return report satisfies never;
  }
}

/** The result's members in camel case, without any envelope. */
function members(report: Exclude<TaskReport, { kind: 'failure' }>): Json {
  switch (report.kind) {
    case 'songs':
      return {
        data: report.items.map(songItem).map((item) => ({ ...item, streamAudioUrl: item.audioUrl })),
      };
    case 'lyrics':
      return { data: report.variants };
    case 'cover':
      return { data: { images: report.images } };
    case 'stems':
      return mapKeys(report.stems, (stem) => camel(`${stem}_url`));
    case 'wav':
      return { audioWavUrl: report.url };
    case 'video':
      return { videoUrl: report.url };
    default:
      return report satisfies never;
  }
}

function flat(taskId: string, report: TaskReport): Json {
  if (report.kind === 'failure')
    return { code: report.code, msg: report.message, callbackType: 'error', taskId };
  const callbackType = report.kind === 'songs' ? report.stage : 'complete';
  return { code: 200, msg: 'success', callbackType, taskId, ...members(report) };
}

function bare(taskId: string, report: TaskReport): Json {
  switch (report.kind) {
    case 'songs': {
      const songs = report.items.map((item) => mapKeys(snakeItem(item), snake));
      return { task_id: taskId, status: report.stage, songs };
    }
    case 'lyrics':
      return { task_id: taskId, status: 'complete', lyrics: report.variants };
    case 'failure':
      return { task_id: taskId, status: 'error', error: report.message };
    default:
      return { task_id: taskId, ...mapKeys(members(report), snake) };
  }
}

function nested(taskId: string, report: TaskReport): Json {
  if (report.kind === 'failure') {
    const { code: errorCode, message: errorMessage } = report;
    return { status: 'error', data: { taskId, status: 'FAILED', errorCode, errorMessage, response: null } };
  }
  if (report.kind === 'cover') return { status: 'success', data: { taskId, images: report.images } };
  const status =
    report.kind === 'songs' ? `${report.stage.toUpperCase()}_SUCCESS`.replace('COMPLETE_', '') : 'SUCCESS';
  const { data, ...rest } = members(report);
  const response = report.kind === 'songs' ? { sunoData: data } : data === undefined ? rest : { data };
  return { status: 'success', data: { taskId, status, response } };
}

/** A moment as upstream writes it: `YYYY-MM-DD HH:MM:SS`, with milliseconds where asked. UTC. */
export function formatTime(milliseconds: number, withMilliseconds = false): string {
  const text = new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '');
  return withMilliseconds ? text : text.slice(0, 19);
}
