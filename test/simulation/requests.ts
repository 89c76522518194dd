/** The requests of histories, as commands send them to jobs. */
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import type { Inquiry } from '../../src/core/work.ts';
import type { RequestKind } from './history.ts';

export const COMMANDS = {
  song: 'song',
  'song with words first': 'song',
  'song in a rough style': 'song',
  lyrics: 'lyrics',
  picture: 'image',
  painting: 'image',
  video: 'video',
  question: 'ask',
  'question to msg': 'ask',
  'question for pictures': 'ask',
  'question to think about': 'ask',
  'question with tools': 'ask',
} as const satisfies Record<RequestKind, string>;

/** Work on the first take of a song, started with a button. */
export function workOn(
  button: 'wav' | 'karaoke' | 'voice',
  { taskId, audioId }: { readonly taskId: string; readonly audioId: string },
): StartRequest['work'] {
  switch (button) {
    case 'wav':
      return { route: 'music.wavGenerate', request: { taskId, audioId } };
    case 'karaoke':
      return {
        route: 'music.timestampedLyrics',
        request: { taskId, audioId },
        song: { title: 'Rain', artist: 'Minstrel' },
      };
    case 'voice':
      return {
        route: 'music.generatePersona',
        request: { taskId, audioId, name: 'Rain', description: 'A voice like rain' },
      };
    default:
      return button satisfies never;
  }
}

/** The title is part of every request to the gateway, so that payments can be assigned to it. */
export function workOf(kind: RequestKind, title: string): StartRequest['work'] {
  const song = {
    customMode: true,
    instrumental: false,
    model: 'V5',
    title,
    style: 'folk',
    prompt: title,
  } as const;
  const inquiry: Inquiry = {
    model: 'small',
    turns: [{ role: 'user', parts: [{ type: 'text', text: title }] }],
  };
  switch (kind) {
    case 'song':
      return {
        route: 'music.generate',
        request: { customMode: false, instrumental: false, model: 'V5', prompt: title },
      };
    case 'song with words first':
      return { route: 'music.generate', request: song, lyricsAbout: title };
    case 'song in a rough style':
      return { route: 'music.generate', request: song, roughStyle: title };
    case 'lyrics':
      return { route: 'music.generateLyrics', request: { prompt: title } };
    case 'picture':
      return { route: 'media.image', request: { model: 'paint', prompt: title } };
    case 'painting':
      return { route: 'gen.image', request: inquiry };
    case 'video':
      return { route: 'media.video', request: { model: 'film', prompt: title } };
    case 'question':
      return {
        route: 'answer',
        dialect: 'chat',
        request: inquiry,
        fallbacks: [
          { dialect: 'gen', model: 'second' },
          { dialect: 'msg', model: 'third' },
        ],
      };
    case 'question to msg': {
      const before = { role: 'user', parts: [{ type: 'text', text: 'Good morning. '.repeat(20) }] } as const;
      const request = { ...inquiry, turns: [before, ...inquiry.turns] };
      return { route: 'answer', dialect: 'msg', request, contextTokens: 50 };
    }
    case 'question for pictures':
      return { route: 'answer', dialect: 'gen', way: { type: 'illustrated' }, request: inquiry };
    case 'question to think about':
      return { route: 'answer', dialect: 'gen', way: { type: 'thinking' }, request: inquiry };
    case 'question with tools':
      return {
        route: 'answer',
        dialect: 'gen',
        way: { type: 'tools', commands: ['song'] },
        request: inquiry,
      };
    default:
      return kind satisfies never;
  }
}
