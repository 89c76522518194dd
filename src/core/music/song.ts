/** Facts about a song, read from its job. */
import type { JobView } from '../job.ts';
import type { Recording, SongModel, Work } from '../work.ts';

export function titleOf({ result, work }: JobView): string {
  const requested = 'request' in work && 'title' in work.request ? work.request.title : undefined;
  return result?.songs.find(({ title }) => title !== undefined)?.title ?? requested ?? 'Your song';
}

/** The artist in the tags of the song's files. */
export const artistOf = ({ person }: Pick<JobView, 'person'>): string => `Minstrel for ${person.displayName}`;

function describeRequest({ options: { prompt, style, lyrics } = {} }: JobView): string[] {
  return [
    ...(prompt ? [`Prompt: ${prompt}`] : []),
    ...(style ? [`Style: ${style}`] : []),
    ...(lyrics && !prompt ? [`Lyrics: ${lyrics}`] : []),
  ];
}

/** Alternative text of a song's cover, for screen readers. */
export const coverAltText = (job: JobView): string =>
  [`Cover of ${titleOf(job)}`, ...describeRequest(job)].join('. ');

/** True if the song has vocals, judging by its request. */
export function hasVoice({ work }: JobView): boolean {
  switch (work.route) {
    case 'music.generate':
    case 'music.uploadCover':
      return !work.request.instrumental;
    case 'music.uploadExtend':
      return !(work.instrumental || (work.request.defaultParamFlag && work.request.instrumental));
    case 'music.extend':
      return !(work.instrumental ?? false);
    default:
      return true;
  }
}

/** The lyrics from the gateway, or else from the request; undefined for instrumentals and recordings with unknown lyrics. */
export function lyricsOf(job: JobView): string | undefined {
  const { work, result } = job;
  if (!hasVoice(job) || work.route === 'music.addInstrumental') return undefined;
  const found = result?.songs.find(({ lyrics }) => lyrics !== undefined && lyrics.trim() !== '')?.lyrics;
  if (found !== undefined) return found;
  if (work.route !== 'music.generate' && work.route !== 'music.uploadCover') return undefined;
  return work.request.customMode ? work.request.prompt : undefined;
}

/** The model of a song. Extending it requires the same one (docs.sunoapi.org/suno-api/extend-music). */
export function songModelOf(work: Extract<Work, { readonly audio: Recording }>): SongModel;
export function songModelOf(work: Work): SongModel | undefined;
export function songModelOf(work: Work): SongModel | undefined {
  switch (work.route) {
    case 'music.generate':
    case 'music.extend':
    case 'music.uploadCover':
    case 'music.uploadExtend':
      return work.request.model;
    case 'music.addVocals':
    case 'music.addInstrumental':
      // The public API's default: https://docs.sunoapi.org/suno-api/add-vocals
      return work.request.model ?? 'V4_5PLUS';
    default:
      return undefined;
  }
}

interface TakeIds {
  readonly taskId: string;
  readonly audioId: string;
}

type Split = 'separate_vocal' | 'split_stem';

/** Work on one take, which the gateway does only once. Equal route and request mean the same work. */
export type TakeWork = Pick<Work, 'route' | 'request'>;

export const TAKE_WORK = {
  wav: ({ taskId, audioId }: TakeIds) =>
    ({ route: 'music.wavGenerate', request: { taskId, audioId } }) satisfies Work,
  video: ({ taskId, audioId }: TakeIds) =>
    ({ route: 'music.mp4Generate', request: { taskId, audioId } }) satisfies Work,
  stems: ({ taskId, audioId }: TakeIds, type: Split) =>
    ({ route: 'music.vocalRemoval', request: { taskId, audioId, type } }) satisfies Work,
  words: ({ taskId, audioId }: TakeIds) =>
    ({ route: 'music.timestampedLyrics', request: { taskId, audioId } }) satisfies TakeWork,
} as const;

/** Order of stems, as in a mixer. Others come last. */
const STEM_ORDER =
  'vocals, backing vocals, instrumental, drums, percussion, bass, guitar, keyboard, piano, synth, strings, brass, woodwinds, fx';

/** The stems of a take, in the same order in chats and on its page. */
export function inMixerOrder<Stem extends { readonly name: string }>(stems: readonly Stem[]): Stem[] {
  const order = STEM_ORDER.split(', ');
  const position = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return stems.toSorted(
    (left, right) => position(left.name) - position(right.name) || left.name.localeCompare(right.name),
  );
}

/** The second to continue from, which must lie before the end (docs.sunoapi.org/suno-api/extend-music). */
export function lastMoment(seconds: number): number {
  return Math.max(0.01, Math.floor((seconds - 0.1) * 100) / 100);
}
