/** Tells what a word costs in answers of these lengths, and an edit among so many channels: CPU of this process. */
import { setImmediate as next } from 'node:timers/promises';
import { z } from 'zod';
import { ask } from '../../../commands/ask.ts';
import { createAnswerDraft } from '../../../src/jobs/ask/draft.ts';
import { createEditPace } from '../../../src/platforms/discord/deliver/edit-pace.ts';
import { renderPages } from '../../../src/platforms/discord/render/render.ts';
import { createNewestWins } from '../../../src/platforms/shared/newest-wins.ts';
import { songJob } from '../../storage/jobs.ts';
import { RecordingLog } from '../../storage/recording-log.ts';
import { cpuSeconds, median } from '../measure.ts';
import { programInput, tell } from '../program.ts';

const { curve, sizes, rounds } = programInput(
  z.object({
    curve: z.enum(['words of an answer', 'channels']),
    sizes: z.array(z.int().positive()),
    rounds: z.int().positive(),
  }),
);
/** At 50 words a second: an edit each 0.4 s, a write of the job each 3 s. */
const WORDS_AN_EDIT = 20;
const WORDS_A_WRITE = 150;
const log = new RecordingLog();
const none = () => Promise.reject(new TypeError('There are no files'));
const NO_MEDIA = {
  keep: none,
  keepBytes: none,
  keepText: none,
  archive: none,
  open: none,
  seconds: none,
  stat: none,
  tag: none,
};

/** What models write: paragraphs, items, marks, code; words of six characters, so that 30,000 are as long as an answer may be. */
function wordOf(index: number): string {
  const word = `wo${index.toString(36)}`;
  const paragraph = Math.floor(index / 60);
  const beginning = index % 60 === 0 && index > 0 ? '\n\n' : '';
  if (paragraph % 5 === 3 && index % 12 === 0) return `${beginning || '\n'}- **${word}** `;
  if (paragraph % 7 === 6 && index % 60 === 0) return `${beginning}\`\`\`js\n${word}\n\`\`\`\n\n`;
  return `${beginning}${word} `;
}

async function answer(words: number): Promise<void> {
  const draft = createAnswerDraft('job', { media: NO_MEDIA, log });
  const work = { route: 'answer', dialect: 'chat', request: { model: 'chat-small', turns: [] } } as const;
  const job = songJob({ id: 'job', command: 'ask', work });
  for (let index = 0; index < words; index += 1) {
    await draft.add({ type: 'part', part: { type: 'text', text: wordOf(index) } });
    if (index % WORDS_A_WRITE === 0) JSON.stringify({ ...job, result: draft.into(undefined) });
    if (index % WORDS_AN_EDIT !== 0) continue;
    const message = ask.early?.({ ...job, result: draft.into(undefined) }) ?? {};
    await renderPages(message, {
      fileBytes: 10_000_000,
      link: () => '',
      streaming: true,
    });
  }
}

/** Three states of a message in each channel, and the last one. */
async function edit(channels: number): Promise<void> {
  let now = 0;
  const pace = createEditPace({
    elapsed: () => now,
    async sleep(milliseconds) {
      const until = now + milliseconds;
      await next();
      now = Math.max(now, until);
    },
  });
  await Promise.all(
    Array.from({ length: channels }, async (_, index) => {
      const budget = `channel${index}`;
      const { signal } = new AbortController();
      const writer = createNewestWins<number>({
        ready: (state) => pace.slot({ budget, other: budget, isFirst: state === 0 }, signal),
        write: () => Promise.resolve(),
        failed: () => {},
      });
      for (let state = 0; state < 3; state += 1) {
        writer.offer(state);
        await next();
      }
      await writer.close();
    }),
  );
}

const RUNS = { 'words of an answer': answer, channels: edit };
await RUNS[curve](sizes[0] ?? 1);
const measured: { size: number; each: number }[] = [];
for (const size of sizes) {
  const each: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    // Of small ones as many as the clock can tell.
    const times = Math.max(1, Math.round(1_000 / size));
    for (let time = 0; time < times; time += 1) await RUNS[curve](size);
    each.push((cpuSeconds(before) / times / size) * 1e6);
  }
  measured.push({ size, each: median(each) });
}
tell(measured);
