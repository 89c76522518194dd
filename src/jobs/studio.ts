/** The music routes that answer at once: when each line is sung, and a voice to keep. */
import type { Gateway } from '../gateway/client.ts';
import { GatewayError } from '../gateway/errors.ts';
import type { Media } from '../media/media.ts';
import type { Result, Work } from '../work.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { linesOf, lrc } from './lrc.ts';
import { EMPTY_RESULT } from './result.ts';

interface StudioTools {
  readonly gateway: Pick<Gateway, 'music'>;
  readonly media: Pick<Media, 'keepText'>;
  readonly signal: AbortSignal;
}

/** Throws GatewayError and MediaError. A song in which nothing is sung is a result, too. */
export async function karaoke(
  { request, song }: Extract<Work, { route: 'music.timestampedLyrics' }>,
  { gateway, media, signal }: StudioTools,
): Promise<Result> {
  const lines = linesOf(await gateway.music.timestampedLyrics(request, { signal }));
  if (lines.length === 0) return { ...EMPTY_RESULT, karaoke: { lines } };
  const { name, bytes, contentType } = await media.keepText(lrc(lines, song), 'lrc');
  return { ...EMPTY_RESULT, karaoke: { lines, file: { name, bytes, contentType } } };
}

/** Throws GatewayError. An audio that has given its voice already is no failure: it is explained. */
export async function keepVoice(
  { request }: Extract<Work, { route: 'music.generatePersona' }>,
  { gateway, signal }: StudioTools,
): Promise<Result> {
  try {
    const { personaId } = await gateway.music.generatePersona(request, { signal });
    return { ...EMPTY_RESULT, voice: { outcome: 'kept', personaId } };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'exists') throw error;
    return { ...EMPTY_RESULT, voice: { outcome: 'kept-before' } };
  }
}

/** Keeps the voice that a job in state `ready` brought, for its server. Repeating it changes nothing. */
export async function keepVoiceOf(job: Job, { voices }: Pick<JobDependencies, 'voices'>): Promise<void> {
  const { work, result, end, madeFrom, person } = job;
  if (work.route !== 'music.generatePersona' || end !== 'delivered' || result?.voice?.outcome !== 'kept')
    return;
  await voices.keep(job.address, {
    personaId: result.voice.personaId,
    name: work.request.name,
    description: work.request.description,
    audioId: work.request.audioId,
    ...(madeFrom === undefined ? {} : { madeFrom }),
    keptBy: { id: person.id, displayName: person.displayName },
    keptAt: job.createdAt,
  });
}
