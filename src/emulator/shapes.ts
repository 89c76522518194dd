import type { Shape } from './options.ts';
import type { MusicTaskKind } from './store.ts';

/** One song as a callback tells of it; URLs are null until the stage that has them. */
export interface SongItem {
  readonly id: string;
  readonly audioUrl: string | null;
  readonly imageUrl: string | null;
  readonly prompt: string;
  readonly modelName: string;
  readonly title: string;
  readonly tags: string;
  readonly createTime: string;
  readonly duration: number | null;
}

export type SongStage = 'text' | 'first' | 'complete';

/** What a callback has to say, before a shape decides how. */
export type Outcome =
  | { readonly kind: 'songs'; readonly stage: SongStage; readonly items: readonly SongItem[] }
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

function mapKeys(record: Json, rename: (key: string) => string): Json {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [rename(key), value]));
}

/** The answer to an accepted asynchronous submission. */
export function renderAccepted(shape: Shape, taskId: string): Json {
  switch (shape) {
    case 'sunoapi':
      return { code: 200, msg: 'success', data: { taskId } };
    case 'flat':
      return { code: 200, msg: 'success', taskId };
    case 'bare':
      return { task_id: taskId };
    case 'nested':
      return { status: 'success', data: { task: { taskId, status: 'PENDING' } } };
    default:
      return shape satisfies never;
  }
}

/** A synchronous result (persona, style); the members come in camel case. */
export function renderResult(shape: Shape, result: Json): Json {
  switch (shape) {
    case 'sunoapi':
      return { code: 200, msg: 'success', data: result };
    case 'flat':
      return { code: 200, msg: 'success', ...result };
    case 'bare':
      return result;
    case 'nested':
      return { status: 'success', data: { response: result } };
    default:
      return shape satisfies never;
  }
}

/** Aligned words; the contract fixes `data.alignedWords[]` with `startS` and `endS`, only the word's name is open. */
export function renderAlignedWords(
  shape: Shape,
  words: readonly { text: string; startS: number; endS: number }[],
): Json {
  const wordName = shape === 'flat' || shape === 'bare' ? 'text' : 'word';
  const alignedWords = words.map(({ text, startS, endS }) =>
    shape === 'sunoapi'
      ? { word: text, success: true, startS, endS, palign: 0 }
      : { [wordName]: text, startS, endS },
  );
  if (shape === 'bare') return { data: { alignedWords } };
  if (shape === 'nested') return { status: 'success', data: { alignedWords } };
  const extra = shape === 'sunoapi' ? { waveformData: [], hootCer: 0, isStreamed: false } : {};
  return { code: 200, msg: 'success', data: { alignedWords, ...extra } };
}

/** The body of a callback. */
export function renderCallback(shape: Shape, taskId: string, outcome: Outcome): Json {
  switch (shape) {
    case 'sunoapi':
      return sunoapi(taskId, outcome);
    case 'flat':
      return flat(taskId, outcome);
    case 'bare':
      return bare(taskId, outcome);
    case 'nested':
      return nested(taskId, outcome);
    default:
      return shape satisfies never;
  }
}

const snakeItem = (item: SongItem): Json => ({
  id: item.id,
  audio_url: item.audioUrl ?? '',
  source_audio_url: item.audioUrl ?? '',
  stream_audio_url: item.audioUrl ?? '',
  source_stream_audio_url: item.audioUrl ?? '',
  image_url: item.imageUrl ?? '',
  source_image_url: item.imageUrl ?? '',
  prompt: item.prompt,
  model_name: item.modelName,
  title: item.title,
  tags: item.tags,
  createTime: item.createTime,
  duration: item.duration,
});

function sunoapi(taskId: string, outcome: Outcome): Json {
  switch (outcome.kind) {
    case 'songs':
      return {
        code: 200,
        msg:
          outcome.stage === 'complete'
            ? 'All generated successfully.'
            : `${outcome.stage} generated successfully.`,
        data: { callbackType: outcome.stage, task_id: taskId, data: outcome.items.map(snakeItem) },
      };
    case 'lyrics': {
      const data = outcome.variants.map((variant) => ({ ...variant, status: 'complete', errorMessage: '' }));
      return {
        code: 200,
        msg: 'All generated successfully.',
        data: { callbackType: 'complete', taskId, data },
      };
    }
    case 'cover':
      return { code: 200, msg: 'success', data: { taskId, images: outcome.images } };
    case 'stems': {
      // The contract names `vocalUrl` and `instrumentalUrl`; the public API nests snake case. Both are sent.
      const names = mapKeys(outcome.stems, (stem) => camel(`${stem}_url`));
      const info = { ...mapKeys(outcome.stems, (stem) => `${stem}_url`), origin_url: '' };
      return {
        code: 200,
        msg: 'vocal Removal generated successfully.',
        data: { task_id: taskId, ...names, vocal_removal_info: info },
      };
    }
    case 'wav':
      return { code: 200, msg: 'success', data: { task_id: taskId, audioWavUrl: outcome.url } };
    case 'video':
      return {
        code: 200,
        msg: 'MP4 generated successfully.',
        data: { task_id: taskId, video_url: outcome.url },
      };
    case 'failure': {
      const { code, message: msg } = outcome;
      const data = {
        songs: { callbackType: 'error', task_id: taskId, data: null },
        lyrics: { callbackType: 'error', taskId, data: null },
        cover: { taskId, images: null },
        stems: { task_id: taskId, vocal_removal_info: null },
        wav: { task_id: taskId, audioWavUrl: null },
        video: { task_id: taskId, video_url: null },
      } satisfies Record<MusicTaskKind, Json>;
      return { code, msg, data: data[outcome.of] };
    }
    default:
      return outcome satisfies never;
  }
}

/** The result's members in camel case, without any envelope. */
function members(outcome: Exclude<Outcome, { kind: 'failure' }>): Json {
  switch (outcome.kind) {
    case 'songs':
      return { data: outcome.items.map((item) => ({ ...item, streamAudioUrl: item.audioUrl })) };
    case 'lyrics':
      return { data: outcome.variants };
    case 'cover':
      return { data: { images: outcome.images } };
    case 'stems':
      return mapKeys(outcome.stems, (stem) => camel(`${stem}_url`));
    case 'wav':
      return { audioWavUrl: outcome.url };
    case 'video':
      return { videoUrl: outcome.url };
    default:
      return outcome satisfies never;
  }
}

function flat(taskId: string, outcome: Outcome): Json {
  if (outcome.kind === 'failure')
    return { code: outcome.code, msg: outcome.message, callbackType: 'error', taskId };
  const callbackType = outcome.kind === 'songs' ? outcome.stage : 'complete';
  return { code: 200, msg: 'success', callbackType, taskId, ...members(outcome) };
}

function bare(taskId: string, outcome: Outcome): Json {
  switch (outcome.kind) {
    case 'songs': {
      const songs = outcome.items
        .map(snakeItem)
        .map(({ createTime, ...item }) => ({ ...item, create_time: createTime }));
      return { task_id: taskId, status: outcome.stage, songs };
    }
    case 'lyrics':
      return { task_id: taskId, status: 'complete', lyrics: outcome.variants };
    case 'cover':
      return { task_id: taskId, data: { images: outcome.images } };
    case 'stems':
      return { task_id: taskId, ...mapKeys(outcome.stems, (stem) => `${stem}_url`) };
    case 'wav':
      return { task_id: taskId, audio_wav_url: outcome.url };
    case 'video':
      return { task_id: taskId, video_url: outcome.url };
    case 'failure':
      return { task_id: taskId, status: 'error', error: outcome.message };
    default:
      return outcome satisfies never;
  }
}

function nested(taskId: string, outcome: Outcome): Json {
  if (outcome.kind === 'failure') {
    const data = {
      taskId,
      status: 'FAILED',
      errorCode: outcome.code,
      errorMessage: outcome.message,
      response: null,
    };
    return { status: 'error', data };
  }
  if (outcome.kind === 'cover') return { status: 'success', data: { taskId, images: outcome.images } };
  const status =
    outcome.kind === 'songs' ? `${outcome.stage.toUpperCase()}_SUCCESS`.replace('COMPLETE_', '') : 'SUCCESS';
  const { data, ...rest } = members(outcome);
  const response = outcome.kind === 'songs' ? { sunoData: data } : data === undefined ? rest : { data };
  return { status: 'success', data: { taskId, status, response } };
}
