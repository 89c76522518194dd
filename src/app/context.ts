/** Checks access and builds the context of an invocation. */

import type { AnswerOffer, Context } from '../core/bot/context.ts';
import type { BotOptions, EnterRequest } from '../core/bot/create-bot.ts';
import { UserError } from '../core/errors.ts';
import { type Address, type Person, serverOf } from '../core/invocation.ts';
import type { Offer } from '../core/models/family.ts';
import type { System } from '../core/system.ts';
import type { Gateway } from '../gateway/client.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { filesDeadline } from '../media/attachments.ts';
import type { Parties } from '../party/parties.ts';
import type { Decisions } from '../settings/decisions.ts';
import { songModel } from '../settings/models.ts';
import type { Voices } from '../settings/voices.ts';
import type { Storage } from '../storage/storage.ts';
import type { Administration } from './administration.ts';
import type { ContestRunner } from './contests/contests.ts';
import type { ReadOrigin } from './origins.ts';
import type { Pages } from './routes/pages.ts';
import type { ScheduleRunner } from './schedules.ts';

export interface ContextParts extends Pick<System, 'now'>, Offer {
  readonly storage: Pick<Storage, 'jobs'>;
  readonly jobs: Jobs;
  readonly gateway: { readonly models: Pick<Gateway['models'], 'cached' | 'readsImages' | 'dialects'> };
  readonly voices: Voices;
  readonly administration: Administration;
  readonly pages: Pick<Pages, 'urlOf'>;
  readonly answerOffer: AnswerOffer;
  readonly schedules: Pick<ScheduleRunner, 'at'>;
  readonly contests: Pick<ContestRunner, 'at'>;
  readonly readOrigin: ReadOrigin;
  /** Undefined if the platform has no voice channels. */
  readonly partiesOn: (platform: string) => Pick<Parties, 'toolsFor'> | undefined;
  readonly canRead: (address: Address, person: Person) => boolean;
  readonly mentionsOnlyNotice: (address: Address) => string | undefined;
}

/** Voice playback requires access to this command, whichever button starts it. */
const PARTY = 'party';
/** Entering a contest requires access to this command, even with /song. */
const CONTEST = 'contest';
const HIDDEN =
  "This is your contest entry, so I can't show it here until the vote is over. To see it now, send me /jobs in a direct message.";

export function createEnter(parts: ContextParts): BotOptions['enter'] {
  return async (request) => {
    const { person, settings } = await parts.administration.admit(request);
    return { person, context: contextOf({ ...request, admitted: person, settings }, parts) };
  };
}

interface ContextRequest extends EnterRequest {
  /** The person with the identity and roles that apply here. */
  readonly admitted: Person;
  readonly settings: Decisions;
}

function contextOf(
  { address, person: platformPerson, admitted: person, invocation, settings }: ContextRequest,
  parts: ContextParts,
): Context {
  const { now, storage, jobs, gateway, voices, administration, answerOffer, partiesOn } = parts;
  const { inForce, own, ...moderation } = administration.moderation(address, platformPerson, settings);
  /** A button may run another command's work, so the person needs access to that command too. */
  const enterOther = async (command: string): Promise<void> => {
    if (command !== invocation?.command)
      await administration.admit({ command, address, person: platformPerson }, settings);
  };
  const mayEnter = async (): Promise<boolean> => {
    try {
      await enterOther(CONTEST);
      return true;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return false;
    }
  };
  return {
    now,
    jobs: {
      async start(request) {
        if (!invocation) throw new TypeError('Completions cannot start jobs');
        if (request.command !== undefined) await enterOther(request.command);
        return jobs.start(request, { ...invocation, person }, settings);
      },
      find: (id) => jobs.find(id),
      recentSongs: (limit) => storage.jobs.recentSongs(address, limit),
      async serverSongs(limit) {
        const guild = serverOf(address);
        const inChannel = await storage.jobs.recentSongs(address, limit);
        if (guild === undefined) return inChannel;
        const all = await storage.jobs.recentServerSongs({ platform: address.platform, guild }, limit);
        const otherChannels = all.filter((song) => song.address.channel !== address.channel);
        return [...inChannel, ...otherChannels.filter((song) => parts.canRead(song.address, person))];
      },
      running: ({ everywhere } = { everywhere: false }) =>
        storage.jobs.running(everywhere ? { platform: address.platform } : address, person.id),
      cancel: (id) => jobs.cancel(id, person.id),
      reveal: (id) => jobs.reveal(id),
      undelivered: (limit) => storage.jobs.undelivered(address.platform, person.id, limit),
      async showHere(id) {
        const job = serverOf(address) === undefined ? undefined : await jobs.find(id);
        if (job?.hidden) throw new UserError(HIDDEN);
        return jobs.showAt(id, address, person.id);
      },
    },
    models: {
      song: async (named) => songModel(await administration.models.resolve('song', named, address, settings)),
      resolve: (family, named) => administration.models.resolve(family, named, address, settings),
      imageEditor: (choice) => administration.models.imageEditor(choice, settings),
      suggest: async (family, typed) => administration.models.suggest(family, typed),
      listedBy: (id) => gateway.models.cached().find((model) => model.id === id)?.listedBy ?? [],
      readsImages: (id) => gateway.models.readsImages(id),
      dialects: gateway.models.dialects,
    },
    answerOffer,
    families: parts.offered,
    inForce,
    own,
    hasUnits: administration.hasUnits,
    moderation,
    mentionsOnlyNotice: parts.mentionsOnlyNotice(address),
    judge: (answer, judgement) => administration.judge(answer, person, judgement),
    pages: {
      of: parts.pages.urlOf,
      setWithdrawn: ({ id }, withdrawn) => jobs.setPage(id, withdrawn),
    },
    files: {
      fileOf: ({ id }, source, accept) => jobs.file(id, source, accept, filesDeadline()),
      originOf: (file) => parts.readOrigin(file, address, person),
    },
    voices: {
      list: () => voices.list(address),
      remove: (personaId) => voices.remove(address, personaId),
      removed: () => voices.removed(address),
      save: (voice) => voices.save(address, voice),
    },
    schedules: parts.schedules.at(address, { platformPerson, admitted: person }),
    contests: parts.contests.at({ address, person, settings, invocation, mayEnter }),
    async party() {
      await enterOther(PARTY);
      const tools = partiesOn(address.platform)?.toolsFor(address, person);
      return (
        tools && {
          ...tools,
          async play(song) {
            if (!invocation) throw new TypeError('Completions cannot play songs');
            const queued = { id: invocation.id, address, person };
            return administration.meter.countQueued(queued, settings, () => tools.play(song));
          },
        }
      );
    },
  };
}
