/** The forms of music responses and callbacks that the contract doesn't show. */
import type { Audio, MusicTaskKind } from './store.ts';

/** The content of a callback, before a shape formats it. */
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
  /** Stem names in snake case (`backing_vocals`) with their URLs. */
  | { readonly kind: 'stems'; readonly stems: Readonly<Record<string, string>> }
  | { readonly kind: 'wav'; readonly url: string }
  | { readonly kind: 'video'; readonly url: string }
  | { readonly kind: 'failure'; readonly of: MusicTaskKind; readonly code: number; readonly message: string };

export type Json = Record<string, unknown>;

/** Converts `backing_vocals` to `backingVocals`. */
export function camel(word: string): string {
  return word.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function mapKeys(record: Json, rename: (key: string) => string): Json {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [rename(key), value]));
}

/** A form of the bodies that the contract doesn't show. */
export interface MusicShape {
  /** The response to an accepted asynchronous submission. */
  accepted(taskId: string): Json;
  /** A synchronous result (persona, style). The members are in camel case. */
  result(result: Json): Json;
  /** The contract shows `data.alignedWords[]` with `startS` and `endS`, but not the name of the text. */
  alignedWords(words: readonly { text: string; startS: number; endS: number }[]): Json;
  /** The body of a callback. */
  callback(taskId: string, report: TaskReport): Json;
  refused(code: number, message: string): { readonly status: number; readonly body: Json };
}

const success = (data: Json, msg = 'success'): Json => ({ code: 200, msg, data });

/** The form of the public API of that name, which sends refusals with HTTP 200. */
export const sunoapi: MusicShape = {
  accepted: (taskId) => success({ taskId }),
  result: (result) => success(result),
  alignedWords: (words) =>
    success({ alignedWords: words.map(({ text, ...times }) => ({ word: text, ...times })) }),
  callback: callbackBody,
  refused: (code, msg) => ({ status: 200, body: { code, msg, data: null } }),
};

/** A song in a callback; URLs are null until their stage. */
export function songItem({ id, recipe, model, tags, audioUrl, imageUrl, createdAt, seconds }: Audio) {
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

/** A song with the member names of the public API. */
export function snakeItem(audio: Audio): Json {
  const { audioUrl, imageUrl, modelName, ...item } = songItem(audio);
  const urls = { audio_url: audioUrl ?? '', stream_audio_url: audioUrl ?? '', image_url: imageUrl ?? '' };
  return { ...item, model_name: modelName, ...urls };
}

function callbackBody(taskId: string, report: TaskReport): Json {
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

/** Formats a time as upstream: `YYYY-MM-DD HH:MM:SS`, optionally with milliseconds. UTC. */
export function formatTime(milliseconds: number, withMilliseconds = false): string {
  const text = new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '');
  return withMilliseconds ? text : text.slice(0, 19);
}
