/** Keep voice: the voice of a take becomes one that later songs can be sung with. */
import { type Context, defineFormAction, type OptionDeclarations } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import { duration, quoted } from '../text.ts';
import { hasVoice, type KnownTake, knownTake, type Take, takeName, titleOf } from './takes.ts';

const options = {
  name: { type: 'text', description: 'What it is called here', required: true, maximumLength: 80 },
  description: {
    type: 'text',
    description: 'What it is like, such as “warm, a little hoarse”',
    maximumLength: 1000,
    multiline: true,
  },
  start: { type: 'number', description: 'The second at which it can be heard well', minimum: 0 },
  end: { type: 'number', description: 'Until when: 10 to 30 seconds later', minimum: 0 },
} as const satisfies OptionDeclarations;

export const keepVoice = defineFormAction({
  options,

  async form({ job, index }, context) {
    const take = await voicedTake({ job, index }, context);
    const { defaultStart, defaultEnd } = context.limits.music.personaSeconds;
    const seconds = take.song.durationSeconds ?? defaultEnd;
    return {
      title: 'Keep this voice',
      submitLabel: 'Keep it',
      initial: { start: defaultStart, end: Math.min(defaultEnd, Math.floor(seconds)) },
    };
  },

  async run({ job, index, options: { name, description, start, end } }, context) {
    const take = await voicedTake({ job, index }, context);
    const segment = segmentOf(start, end, take.song.durationSeconds, context);
    if ((await context.voices.list()).some((voice) => voice.name.toLowerCase() === name.toLowerCase())) {
      throw new UserError(
        `A voice called “${name}” is kept here already. Please choose another name.`,
        'name',
      );
    }
    const madeFrom = takeName(take);
    return context.jobs.start({
      work: {
        route: 'music.generatePersona',
        request: {
          taskId: take.taskId,
          audioId: take.audioId,
          name,
          description: description ?? `The voice of ${quoted(titleOf(job))}`,
          ...segment,
        },
      },
      title: `Keeping the voice of ${madeFrom}`,
      parent: job.id,
      madeFrom,
      command: 'song',
    });
  },
});

/** Throws UserError where there is no voice to keep, or where it is kept: each audio gives one (contract, "Limits" 1). */
async function voicedTake(take: Take, { voices, limits }: Context): Promise<KnownTake> {
  if (!hasVoice(take.job)) throw new UserError('Nobody sings in this song, so there is no voice to keep.');
  const known = knownTake(take);
  const kept = (await voices.list()).find(({ audioId }) => audioId === known.audioId);
  if (kept) {
    throw new UserError(
      `The voice of this take is kept already, as “${kept.name}” by ${kept.keptBy.displayName}: choose it in /song under “voice”. Each take gives one voice; another take gives another.`,
    );
  }
  const { shortest } = limits.music.personaSeconds;
  const { durationSeconds } = known.song;
  if (durationSeconds !== undefined && durationSeconds < shortest) {
    throw new UserError(
      `This take lasts ${duration(durationSeconds)}, and a voice needs at least ${shortest} seconds. Extend it first, then keep the voice of what comes.`,
    );
  }
  return known;
}

/** Seconds, checked against what the gateway takes. Throws UserError. */
function segmentOf(
  from: number | undefined,
  until: number | undefined,
  seconds: number | undefined,
  { limits }: Context,
): { vocalStart: number; vocalEnd: number } {
  const { shortest, longest, defaultStart, defaultEnd } = limits.music.personaSeconds;
  const vocalStart = hundredths(from ?? defaultStart);
  const vocalEnd = hundredths(
    until ?? Math.min(vocalStart + defaultEnd, seconds ?? Number.POSITIVE_INFINITY),
  );
  if (seconds !== undefined && vocalStart >= seconds)
    throw new UserError(`This take ends at ${duration(seconds)}. Please begin before that.`, 'start');
  if (seconds !== undefined && vocalEnd > Math.ceil(seconds))
    throw new UserError(`This take ends at ${duration(seconds)}. Please end there at the latest.`, 'end');
  const length = hundredths(vocalEnd - vocalStart);
  if (length < shortest || length > longest) {
    throw new UserError(
      `A voice is learned from ${shortest} to ${longest} seconds; ${vocalStart} to ${vocalEnd} are ${Math.max(0, length)}.`,
      'end',
    );
  }
  return { vocalStart, vocalEnd };
}

/** docs.kie.ai/cn/suno-api/generate-persona: multiples of 0.01. */
function hundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
