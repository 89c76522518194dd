/** Text from people, models and the gateway never blocks the event loop. For texts on platforms, see test/platforms. */
import { describe } from 'vitest';
import { closeMarkdown } from '../commands/ask/unfinished-markdown.ts';
import { ask } from '../commands/ask.ts';
import { firstLine, lyricsMarkdown, withSectionTags } from '../commands/song/lyrics-text.ts';
import { song } from '../commands/song.ts';
import { subjectOf } from '../commands/text/options.ts';
import { clip, quoted, shortened, words } from '../commands/text/phrases.ts';
import { createLog } from '../src/app/telemetry/log.ts';
import type { JobView } from '../src/core/job.ts';
import { parseActionId, plain } from '../src/core/message.ts';
import { parseSubject } from '../src/core/moderation.ts';
import { readNumber, validateOptions } from '../src/core/options.ts';
import { retryAfterOf } from '../src/core/util/backoff.ts';
import { findModel } from '../src/emulator/models.ts';
import { createRandom } from '../src/emulator/random.ts';
import { planScene } from '../src/emulator/studio/painter/scene.ts';
import { chooseGenre } from '../src/emulator/studio/synthesizer/genre.ts';
import { singWords } from '../src/emulator/studio/synthesizer/melody.ts';
import { ANSWERERS } from '../src/emulator/text/answers.ts';
import { piecesOf } from '../src/emulator/text/conversation.ts';
import { titleFrom } from '../src/emulator/writing.ts';
import { createChatReader } from '../src/gateway/chat.ts';
import { createGenReader } from '../src/gateway/gen.ts';
import { addressesInMarkdown, createImageSplitter } from '../src/gateway/images.ts';
import { hintsOf } from '../src/gateway/models/hints.ts';
import { createMsgReader } from '../src/gateway/msg.ts';
import { readMusicCallback } from '../src/gateway/music/callback.ts';
import { asHttpUrl, parseJson } from '../src/gateway/transport/json.ts';
import { redactor } from '../src/gateway/transport/redact.ts';
import { readRefusal } from '../src/gateway/transport/refusal-body.ts';
import { isWebPage } from '../src/gateway/transport/refusals.ts';
import { createEventDecoder } from '../src/gateway/transport/sse.ts';
import { estimateTokens } from '../src/jobs/ask/context-budget.ts';
import { readArguments } from '../src/jobs/ask/tool-declarations.ts';
import { linesOf, lrc } from '../src/jobs/steps/lrc.ts';
import { safeFileName } from '../src/media/content/file-names.ts';
import { contentTypeOf } from '../src/media/content/types.ts';
import { readMediaUrl } from '../src/media/fetch/request.ts';
import { isStoredName } from '../src/media/store/media-store.ts';
import { stageText } from '../src/platforms/shared/progress.ts';
import { readAlbumId } from '../src/settings/albums.ts';
import { readSettings } from '../src/settings/decisions.ts';
import { parseJob } from '../src/storage/job-record.ts';
import { testLinear } from './linear-text.ts';

/** About as many as fit in a callback of the maximum size. */
const MANY_KEYS = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
const NOTHING = { songs: [], lyrics: [], stems: [], images: [] };
const answered = (text: string): JobView => ({
  id: 'job',
  version: 1,
  invocation: 'test:event',
  state: 'delivered',
  command: 'ask',
  title: text,
  address: { platform: 'test', channel: 'channel', person: 'person' },
  person: { id: 'person', displayName: text, moderator: false, roles: [] },
  work: { route: 'answer', dialect: 'chat', request: { model: 'model', turns: [] } },
  result: { ...NOTHING, answer: { text } },
  createdAt: 0,
  stored: {},
  attempts: 0,
  polls: 0,
  inboxRead: 0,
});
const sung = (text: string): JobView => ({
  ...answered(text),
  command: 'song',
  work: {
    route: 'music.generate',
    request: { prompt: text, customMode: false, instrumental: false, model: 'V5' },
  },
  result: {
    ...NOTHING,
    songs: [{ title: text, lyrics: text, style: text, audioUrl: 'https://files.example/song.mp3' }],
  },
});
const from = (text: string) => [{ role: 'user' as const, text, pictures: [] }];
const random = createRandom('melody');

describe('core reads in linear time', () => {
  testLinear({
    plain,
    parseActionId,
    parseSubject,
    readNumber,
    retryAfterOf: (text) => retryAfterOf({ get: () => text }, 0),
    stageText: (text) => stageText({ title: text, progress: { stage: text, startedAt: 0 } }),
    'the value of an option': (text) => validateOptions({ question: text }, ask.options),
    'the name of an option': (text) => validateOptions({ [text]: 'a' }, ask.options),
    'a choice': (text) => validateOptions({ prompt: 'a', model: text }, song.options),
  });
});

describe('commands write in linear time', () => {
  testLinear({
    // Trailing marks are dropped.
    closeMarkdown: (text) => closeMarkdown(`${text}a`),
    'an answer': (text) => ask.done?.(answered(text)),
    'an answer that is still written': (text) => ask.early?.(answered(text)),
    'a song': (text) => song.done?.(sung(text)),
    withSectionTags,
    lyricsMarkdown,
    firstLine,
    subjectOf,
    quoted,
    clip: (text) => clip(text, 100),
    shortened: (text) => shortened(text, 100),
    words: (text) => words(text, 10),
  });
});

describe('the gateway is read in linear time', () => {
  const body = { taskId: 'task' };
  testLinear({
    isWebPage,
    parseJson,
    asHttpUrl,
    addressesInMarkdown,
    'images in fragments': (text) => {
      const images = createImageSplitter();
      for (let at = 0; at < text.length; at += 16) images.add(text.slice(at, at + 16));
    },
    'a refusal': (text) => readRefusal({ error: { message: text, code: text, status: text } }),
    'an error that is redacted': redactor('key', { callBackUrl: 'https://bot.example/callback?signature=a' }),
    'an address that is redacted': (text) => redactor('key', { uploadUrl: text })(text),
    'a callback with many keys': () => readMusicCallback(MANY_KEYS),
    'a callback': (text) =>
      readMusicCallback({ code: 400, msg: text, data: { ...body, callbackType: text } }),
    'a song': (text) =>
      readMusicCallback({
        data: { ...body, data: [{ id: text, title: text, prompt: text, audio_url: text }] },
      }),
    'the hints of a model': (text) => hintsOf({ type: text, capabilities: [text], tasks: text }),
    'a stream': (text) => createEventDecoder(1_000_000).push(Buffer.from(text)),
    'a chunk of the chat dialect': (text) =>
      createChatReader().read({ choices: [{ delta: { content: text } }] }),
    'a chunk of the msg dialect': (text) =>
      createMsgReader().read({ type: 'content_block_delta', delta: { type: 'text_delta', text } }),
    'a chunk of the gen dialect': (text) =>
      createGenReader().read({ candidates: [{ content: { parts: [{ text }] } }] }),
  });
});

describe('jobs, media, settings and the log read in linear time', () => {
  const log = createLog({ level: 'info', write: () => undefined, secrets: ['secret-of-the-bot'] });
  testLinear({
    'aligned words': (text) => linesOf([{ word: text, startSeconds: 0, endSeconds: 1 }]),
    'lines of a song': (text) => lrc([{ startSeconds: 0, text }], { title: text, artist: text }),
    'the tokens of a conversation': (text) =>
      estimateTokens({ system: text, turns: [{ role: 'user', parts: [{ type: 'text', text }] }] }),
    'the arguments of a tool': (text) => readArguments({ prompt: text, [text]: text }, song),
    contentTypeOf,
    isStoredName,
    readMediaUrl,
    readAlbumId,
    'a job’s record': (text) => parseJob('job', text),
    'what moderators decided': (text) => readSettings('settings', { version: 1, [text]: text }),
    'the name of a file': (text) => safeFileName(text, 'mp3'),
    'a line of the log': (text) => log.info({ text }, text),
    'an error in the log': (text) => log.error({ err: new Error(text) }),
  });
});

describe('the emulator reads in linear time', () => {
  testLinear({
    ...ANSWERERS,
    piecesOf,
    titleFrom,
    'what was said before': (text) => ANSWERERS.recall('What is my name?', from(text)),
    'a model': (text) => findModel(text, 'chat'),
    'a style': (text) => chooseGenre(text, text),
    'a scene': (text) => planScene(text, text),
    'words that are sung': (text) =>
      singWords(text, { from: 0, to: 60, root: 60, minor: false, chords: [], random }),
  });
});
