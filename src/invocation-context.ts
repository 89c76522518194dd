import type { Administration } from './administration.ts';
import type { BotOptions } from './bot.ts';
import type { Address, AnswerOffer, Context, FileReference, Log } from './command.ts';
import type { Gateway } from './gateway/client.ts';
import { musicLimits } from './gateway/music.ts';
import type { Jobs } from './jobs/jobs.ts';
import { keepAttachment, keepPicture } from './media/attachments.ts';
import type { Media } from './media/media.ts';
import type { PictureFitter } from './media/pictures.ts';
import type { Voices } from './settings/voices.ts';

export interface ContextParts {
  readonly now: () => number;
  readonly log: Log;
  readonly jobs: Jobs;
  readonly gateway: Gateway;
  readonly media: Media;
  readonly voices: Voices;
  readonly administration: Administration;
  readonly answers: AnswerOffer;
  readonly fitPicture: PictureFitter;
  /** The headers with which an attachment may be read. */
  readonly headersOf: (address: Address, file: FileReference) => Promise<Readonly<Record<string, string>>>;
}

/** The tools of one invocation: every room's door, opened for this person in this place. */
export function contextOf(
  { address, person, invocation, platformPerson }: Parameters<BotOptions['context']>[0],
  { now, log, jobs, gateway, media, voices, administration, answers, fitPicture, headersOf }: ContextParts,
): Context {
  const pictures = { media, fitPicture };
  return {
    now,
    log,
    limits: { music: musicLimits },
    jobs: {
      start: (request) => {
        if (!invocation) throw new TypeError('Completions start no work');
        return jobs.start(request, invocation);
      },
      find: (id) => jobs.find(id),
      recentSongs: (limit) => jobs.recentSongs(address, limit),
      running: () => jobs.running(address, person.id),
      cancel: (id) => jobs.cancel(id, person.id),
      reveal: (id) => jobs.reveal(id),
      unplaced: (limit) => jobs.unplaced(address, person.id, limit),
      showHere: (id) => jobs.showAt(id, address, person.id),
    },
    models: {
      resolve: (family, named) => administration.models.resolve(family, named, address),
      suggest: (family, typed) => administration.models.suggest(family, typed),
      listedBy: (id) => gateway.models.cached().find((model) => model.id === id)?.listedBy ?? [],
    },
    answers,
    settings: { answers: () => administration.answers(address) },
    moderation: administration.moderation(address, platformPerson),
    files: {
      keep: async (file, accept) => keepAttachment(media, file, accept, await headersOf(address, file)),
      keepPicture: async (file) => keepPicture(pictures, file, await headersOf(address, file)),
      keepDocument: async (file) => keepAttachment(media, file, ['text'], await headersOf(address, file)),
      made: ({ id }, source, accept) => jobs.file(id, source, accept),
      seconds: ({ name }) => media.seconds(name),
    },
    voices: {
      list: () => voices.list(address),
      remove: (personaId) => voices.remove(address, personaId),
    },
  };
}
