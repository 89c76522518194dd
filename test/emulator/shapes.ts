/** Other forms of music responses and callbacks that a client has to support. */
import {
  camel,
  type Json,
  type MusicShape,
  mapKeys,
  snakeItem,
  songItem,
  sunoapi,
  type TaskReport,
} from '../../src/emulator/shapes.ts';

export const SHAPES = {
  sunoapi,
  flat: {
    accepted: (taskId) => ({ code: 200, msg: 'success', taskId }),
    result: (result) => ({ code: 200, msg: 'success', ...result }),
    alignedWords: (alignedWords) => ({ code: 200, msg: 'success', data: { alignedWords } }),
    callback: flat,
    refused: (code, msg) => ({ status: code, body: { code, msg } }),
  },
  bare: {
    accepted: (taskId) => ({ task_id: taskId }),
    result: (result) => result,
    alignedWords: (alignedWords) => ({ data: { alignedWords } }),
    callback: bare,
    refused: (code, error) => ({ status: code, body: { error } }),
  },
  nested: {
    accepted: (taskId) => ({ status: 'success', data: { task: { taskId, status: 'PENDING' } } }),
    result: (response) => ({ status: 'success', data: { response } }),
    alignedWords: (words) => {
      const alignedWords = words.map(({ text, ...times }) => ({ word: text, ...times }));
      return { status: 'success', data: { alignedWords } };
    },
    callback: nested,
    refused: (code, message) => ({
      status: code,
      body: { status: 'error', data: null, error: { code, message } },
    }),
  },
} as const satisfies Readonly<Record<string, MusicShape>>;

export type ShapeName = keyof typeof SHAPES;

/** Converts `backingVocals` to `backing_vocals`. */
function snake(word: string): string {
  return word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
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
