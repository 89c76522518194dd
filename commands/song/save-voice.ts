/** Saved voices: the button Save voice, and the `voice` option. */
import { type Autocomplete, defineFormAction } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import { privately } from '../../src/core/bot/outcome.ts';
import { UserError } from '../../src/core/errors.ts';
import type { JobView } from '../../src/core/job.ts';
import { plain } from '../../src/core/message.ts';
import { hasVoice } from '../../src/core/music/song.ts';
import { SONG_LIMITS } from '../../src/core/music/song-limits.ts';
import type { RemovedVoice, Voice } from '../../src/core/music/voice.ts';
import type { OptionDeclarations } from '../../src/core/options.ts';
import { duration } from '../../src/core/util/words.ts';
import type { Work } from '../../src/core/work.ts';
import { clip } from '../text/phrases.ts';
import { startOn, type Take, type TakeWithIds, takeName, takeWithIds } from './takes.ts';

/** Per server. Nobody can choose from more. */
const MOST_SAVED = 500;

const options = {
  name: {
    type: 'text',
    description: 'Name',
    help: 'The name to choose it by in new songs.',
    required: true,
    maximumLength: 80,
  },
  description: {
    type: 'text',
    description: 'Description, such as “warm, a little hoarse”',
    help: 'How it sounds, such as “warm, a little hoarse”.',
    maximumLength: 1000,
    multiline: true,
  },
  start: {
    type: 'number',
    description: 'Start of a clear vocal passage, in seconds',
    label: 'From (seconds)',
    help: 'The start of a passage with clear vocals.',
    minimum: 0,
  },
  end: {
    type: 'number',
    description: 'End of the passage, 10 to 30 seconds after the start',
    label: 'To (seconds)',
    help: 'The end of the passage, 10 to 30 seconds after its start.',
    minimum: 0,
  },
} as const satisfies OptionDeclarations;

export const saveVoice = defineFormAction({
  options,

  async form({ job, index }, context) {
    const take = await voicedTake({ job, index }, context);
    if (await removedVoice(take, context))
      return { title: 'Save again at no cost', submitLabel: 'Save voice', initial: {} };
    const { defaultStart, defaultEnd } = SONG_LIMITS.personaSeconds;
    const seconds = take.song.durationSeconds ?? defaultEnd;
    return {
      title: 'Save this voice',
      submitLabel: 'Save voice',
      initial: { start: defaultStart, end: Math.min(defaultEnd, Math.floor(seconds)) },
    };
  },

  async run({ job, index, person, options: { name, description, start, end } }, context) {
    const take = await voicedTake({ job, index }, context);
    if ((await context.voices.list()).some((voice) => voice.name.toLowerCase() === name.toLowerCase())) {
      throw new UserError(`A voice named “${name}” already exists here. Choose another name.`, 'name');
    }
    const removed = await removedVoice(take, context);
    const about = description ?? `The voice of ${takeName(take)}`;
    if (removed) {
      const savedBy = { id: person.id, displayName: person.displayName };
      const source = { savedFrom: takeName(take), songBy: take.job.person.id };
      const voice = { ...removed, ...source, name, description: about };
      await context.voices.save({ ...voice, savedBy, savedAt: context.now() });
      return privately(
        `The voice “${plain(name)}” was saved again at no cost, because the service still had it.`,
      );
    }
    const segment = segmentOf({ start, end }, take.song.durationSeconds);
    const work: Work = {
      route: 'music.generatePersona',
      request: {
        taskId: take.taskId,
        audioId: take.audioId,
        name,
        description: about,
        ...segment,
      },
    };
    return startOn(take, { work, title: `Saving the voice of ${takeName(take)}` }, context);
  },
});

/** Throws UserError if the take has no voice or it is already saved: each audio gives one (contract, "Limits" 1). */
async function voicedTake(take: Take, { voices }: Context): Promise<TakeWithIds> {
  if (!hasVoice(take.job))
    throw new UserError('This song is instrumental, so it has no voice to save. Choose a song with vocals.');
  const withIds = takeWithIds(take);
  const all = await voices.list();
  const saved = all.find(({ audioId }) => audioId === withIds.audioId);
  if (saved) {
    throw new UserError(
      `${saved.savedBy.displayName} saved the voice of this take as “${saved.name}”. Choose it as “voice” in /song, or save the voice of another take.`,
    );
  }
  if (all.length >= MOST_SAVED)
    throw new UserError(
      `${MOST_SAVED} voices are saved here, which is the limit. To make room, remove one with /voices remove.`,
    );
  const { shortest } = SONG_LIMITS.personaSeconds;
  const { durationSeconds } = withIds.song;
  if (durationSeconds !== undefined && durationSeconds < shortest) {
    throw new UserError(
      `This take is ${duration(durationSeconds)} long, and a voice needs at least ${shortest} seconds. Extend it, then save the voice of the longer song.`,
    );
  }
  return withIds;
}

/** A removed voice can be saved again at no cost. */
async function removedVoice(
  { audioId }: Pick<TakeWithIds, 'audioId'>,
  { voices }: Context,
): Promise<RemovedVoice | undefined> {
  return (await voices.removed()).find((voice) => voice.audioId === audioId);
}

/** In seconds, within the gateway's limits. Throws UserError. */
function segmentOf(
  { start, end }: { readonly start?: number | undefined; readonly end?: number | undefined },
  seconds: number | undefined,
): { vocalStart: number; vocalEnd: number } {
  const { shortest, longest, defaultStart, defaultEnd } = SONG_LIMITS.personaSeconds;
  const vocalStart = hundredths(start ?? defaultStart);
  const vocalEnd = hundredths(end ?? Math.min(vocalStart + defaultEnd, seconds ?? Infinity));
  if (seconds !== undefined && vocalStart >= seconds)
    throw new UserError(`This take ends at ${duration(seconds)}. Choose an earlier start.`, 'start');
  if (seconds !== undefined && vocalEnd > Math.ceil(seconds))
    throw new UserError(`This take ends at ${duration(seconds)}. Choose an earlier end.`, 'end');
  const length = hundredths(vocalEnd - vocalStart);
  if (length < shortest || length > longest) {
    throw new UserError(
      `The passage must be ${shortest} to ${longest} seconds long. Yours, from ${vocalStart} s to ${vocalEnd} s, is ${Math.max(0, length)} s long. Change the start or the end.`,
      'end',
    );
  }
  return { vocalStart, vocalEnd };
}

/** docs.kie.ai/cn/suno-api/generate-persona: multiples of 0.01. */
function hundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

/** Voices named in an error. */
const MOST_NAMED = 10;

export const suggestVoices: Autocomplete = async ({ typed }, { voices }) => {
  const query = typed.trim().toLowerCase();
  return (await voices.list())
    .filter(({ name }) => name.toLowerCase().includes(query))
    .map(({ name }) => ({ name, value: name }));
};

/** The saved voice of a work, if any. */
export function savedVoiceOf(work: Work): Pick<Voice, 'personaId' | 'name'> | undefined {
  if (work.route !== 'music.generate' && work.route !== 'music.uploadCover') return undefined;
  const { voiceName: name, request } = work;
  const personaId = request.customMode ? request.personaId : undefined;
  return name === undefined || personaId === undefined ? undefined : { personaId, name };
}

/** Repeats the work. Throws UserError if its voice was removed. */
export async function againWithVoice({ work }: JobView, context: Context): Promise<Work> {
  const voice = savedVoiceOf(work);
  if (voice) await sameVoice(voice.personaId, voice.name, context);
  return work;
}

/** Throws UserError if the voice was removed. */
export async function sameVoice(personaId: string, name: string, { voices }: Context): Promise<Voice> {
  const found = (await voices.list()).find((voice) => voice.personaId === personaId);
  if (found) return found;
  throw new UserError(
    `The voice “${clip(name, 80)}” was removed. Try again with another voice, or without one.`,
  );
}

/** Finds a saved voice by name or the beginning of a name. Throws UserError if nothing matches. */
export async function findVoice(name: string, { voices }: Context): Promise<Voice> {
  const saved = await voices.list();
  const query = name.trim().toLowerCase();
  const found =
    saved.find((voice) => voice.name.toLowerCase() === query) ??
    saved.find((voice) => voice.name.toLowerCase().startsWith(query));
  if (found) return found;
  const names = saved.slice(0, MOST_NAMED).map((voice) => `“${voice.name}”`);
  const more = saved.length > MOST_NAMED ? ' and others' : '';
  const sentence =
    saved.length === 0
      ? 'No voices are saved here yet. To add one, choose **Save voice** in the menu under a song.'
      : `There is no saved voice named “${clip(name, 80)}”. Saved voices: ${names.join(', ')}${more}.`;
  throw new UserError(sentence, 'voice');
}
