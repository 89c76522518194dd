import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { writeLyrics } from '../lyrics.ts';
import { createRandom } from '../random.ts';
import { Refusal } from '../refusal.ts';
import { renderAlignedWords, renderResult } from '../shapes.ts';
import { chooseGenre } from '../synth/genre.ts';
import { alignWords } from './alignment.ts';
import { completedAudio } from './completed.ts';
import { httpUrl, id } from './fields.ts';
import { acceptTask, createTask } from './task.ts';

const lyricsBody = z.strictObject({ prompt: z.string().trim().min(1), callBackUrl: httpUrl });
const timestampedBody = z.strictObject({ taskId: id, audioId: id });
const styleBody = z.strictObject({ content: z.string().trim().min(1).max(1000) });
const mostPromptWords = 200;
const variantCount = 3;

/** `generate-lyrics`, `timestamped-lyrics` and `style-generate`. */
export function registerWordRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/music/generate-lyrics', async (request) => {
    const { prompt, callBackUrl } = readBody(lyricsBody, request);
    const words = prompt.split(/\s+/).length;
    if (words > mostPromptWords)
      throw new Refusal('too large', `prompt: ${words} words; at most ${mostPromptWords}`);
    const task = createTask(context, 'lyrics');
    const make = async () => ({
      kind: 'lyrics' as const,
      variants: Array.from({ length: variantCount }, (_, variant) => writeLyrics(prompt, variant, 'full')),
    });
    return acceptTask(context, request, task, callBackUrl, [{ atSeconds: 1.2, make }]);
  });

  server.post('/music/timestamped-lyrics', async (request) => {
    const { taskId, audioId } = readBody(timestampedBody, request);
    return renderAlignedWords(context.shape, alignWords(completedAudio(context, taskId, audioId)));
  });

  server.post('/music/style-generate', async (request) => {
    const { content } = readBody(styleBody, request);
    return renderResult(context.shape, {
      taskId: context.randomId().replaceAll('-', ''),
      param: JSON.stringify({ content }),
      result: polishStyle(content),
      creditsConsumed: 0.4,
      creditsRemaining: 1000,
      successFlag: '1',
      errorCode: null,
      errorMessage: '',
      createTime: context.now(),
    });
  });
}

const textures = [
  'warm tape',
  'wide stereo',
  'close vocals',
  'analogue',
  'airy',
  'crisp',
  'intimate',
  'anthemic',
] as const;

/** Rough style tags made into a fuller style that keeps them all. */
function polishStyle(content: string): string {
  const random = createRandom(`style ${content}`);
  const genre = chooseGenre(content, content);
  const tempo = Math.round(random.between(genre.tempo[0], genre.tempo[1]));
  const tags = content.split(/[,;]/).map((tag) => tag.trim());
  const added = [genre.name, random.pick(textures), `${tempo} BPM`, genre.minor ? 'minor key' : 'major key'];
  return [...new Set([...tags, ...added])]
    .filter((tag) => tag !== '')
    .join(', ')
    .slice(0, 1000);
}
