import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EmulatorContext, readBody } from '../context.ts';
import { createRandom } from '../random.ts';
import { RefusedRequest } from '../requests.ts';
import { compose } from '../studio/synthesizer/composition.ts';
import { chooseGenre, genreName } from '../studio/synthesizer/genre.ts';
import type { SongRecipe } from '../studio/synthesizer/recipe.ts';
import { writeLyrics } from '../writing.ts';
import { shortId, webUrl } from './songs.ts';
import { acceptTask, completedAudio, createTask } from './tasks.ts';

const lyricsBody = z.strictObject({ prompt: z.string().trim().min(1), callBackUrl: webUrl });
const timestampedBody = z.strictObject({ taskId: shortId, audioId: shortId });
const styleBody = z.strictObject({ content: z.string().trim().min(1).max(1000) });
const maxPromptWords = 200;
const variantCount = 3;

/** `generate-lyrics`, `timestamped-lyrics` and `style-generate`. */
export function registerWordRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/music/generate-lyrics', async (request) => {
    const { prompt, callBackUrl } = readBody(lyricsBody, request);
    const words = prompt.split(/\s+/).length;
    if (words > maxPromptWords)
      throw new RefusedRequest('too large', `prompt: ${words} words, the limit is ${maxPromptWords}`);
    const task = createTask(context, 'lyrics');
    const make = async () => ({
      kind: 'lyrics' as const,
      variants: Array.from({ length: variantCount }, (_, variant) => writeLyrics(prompt, variant, 'full')),
    });
    return acceptTask(context, request, task, callBackUrl, [{ atSeconds: 1.2, make }]);
  });

  server.post('/music/timestamped-lyrics', async (request) => {
    const { taskId, audioId } = readBody(timestampedBody, request);
    const { recipe, seconds } = completedAudio(context, taskId, audioId);
    return context.shape.alignedWords(alignWords(recipe, seconds ?? recipe.seconds));
  });

  server.post('/music/style-generate', async (request) => {
    const { content } = readBody(styleBody, request);
    return context.shape.result({ result: polishStyle(content) });
  });
}

/** Extends rough style tags to a full style that contains all of them. */
function polishStyle(content: string): string {
  const random = createRandom(`style ${content}`);
  const genre = chooseGenre(content, content);
  const tempo = Math.round(random.between(genre.tempo[0], genre.tempo[1]));
  const tags = content.split(/[,;]/).map((tag) => tag.trim());
  const added = [genreName(genre), `${tempo} BPM`, genre.minor ? 'minor key' : 'major key'];
  return [...new Set([...tags, ...added])]
    .filter((tag) => tag !== '')
    .join(', ')
    .slice(0, 1000);
}

/** Returns the times of each word of a song, in seconds from its start. Empty for an instrumental. */
function alignWords(recipe: SongRecipe, seconds: number): ReturnType<typeof wordsFrom> {
  const { source } = recipe;
  if (source === null) return wordsFrom(recipe, 0);
  if (source.kind === 'song') {
    const { continueAt } = source;
    const before = alignWords(source.recipe, continueAt).filter((word) => word.startS < continueAt);
    return [...before, ...wordsFrom(recipe, continueAt)];
  }
  // An extension comes after the upload. Other songs last as long as the upload.
  if (source.use === 'extend') return wordsFrom(recipe, seconds - compose(recipe).seconds);
  return wordsFrom({ ...recipe, seconds }, 0);
}

function wordsFrom(recipe: SongRecipe, from: number) {
  const round = (time: number): number => Math.round((from + time) * 1000) / 1000;
  return compose(recipe).words.map(({ text, start, end }) => ({
    text,
    startS: round(start),
    endS: round(end),
  }));
}
