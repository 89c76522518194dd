/** Runs scheduled requests when they are due. */
import { createHash } from 'node:crypto';
import type { Bot } from '../core/bot/create-bot.ts';
import { UserError } from '../core/errors.ts';
import type { Address, Person } from '../core/invocation.ts';
import { type Message, plain } from '../core/message.ts';
import type { ScheduledRequest, Schedules } from '../core/scheduled-request.ts';
import type { System } from '../core/system.ts';
import { timeText } from '../core/util/moment.ts';
import { type Platform, PlatformError } from '../platforms/platform.ts';
import type { Admit } from '../settings/access/admission.ts';
import type { ScheduleStore } from '../settings/schedules/schedules.ts';
import { isSingleRun, isTimeZone, nextRun, readWhen } from '../settings/schedules/when.ts';
import { type RunRecord, type TimerStorage, wakeRecord } from './timers.ts';

/** The command that people schedule with, and that moderators can deny. */
const COMMAND = 'schedule';
/** A run that is later than this is skipped, in milliseconds. Longer than a restart. */
const TOO_LATE_MS = 15 * 60_000;

export interface ScheduleParts extends Pick<System, 'now' | 'newId' | 'log'> {
  readonly store: ScheduleStore;
  readonly storage: Pick<TimerStorage, 'schedule'>;
  readonly admit: Admit;
  readonly platform: (name: string) => Pick<Platform, 'show' | 'sendPrivately' | 'sameChannel'> | undefined;
  /** The IANA name of the zone for servers that have not chosen one. */
  readonly timeZone: string;
}

/** A person as the platform reports them, and with the rights that settings give them. */
export interface ScheduleViewer {
  readonly platformPerson: Person;
  readonly admitted: Person;
}

export interface ScheduleRunner {
  /** The schedules that a person can see and change at an address. */
  at(address: Address, people: ScheduleViewer): Schedules;
  /** Runs requests that are due. */
  run(bot: Pick<Bot, 'run'>): RunRecord;
}

export function createSchedules(parts: ScheduleParts): ScheduleRunner {
  const { store, storage, timeZone: ownZone, now } = parts;
  const zoneOf = async (key: string) => (await store.read(key)).timeZone ?? ownZone;
  const wake = (key: string) => wakeRecord(key, storage);

  return {
    at: (address, viewer) => schedulesAt(address, viewer, { ...parts, zoneOf, wake }),

    run: (bot) => async (key, lease) => {
      const { requests, timeZone = ownZone } = await store.read(key);
      for (const request of requests) {
        const { nextAt: at } = request;
        if (at === undefined || at > now()) continue;
        await occur(request, { at, timeZone, isRepeated: lease.interrupted, bot }, parts);
        // One by one, because a failure of the next must not report this one as missed.
        await store.advance(key, request, ownZone, now());
      }
      const times = (await store.read(key)).requests.flatMap(({ nextAt }) => nextAt ?? []);
      return times.length === 0 ? undefined : Math.min(...times);
    },
  };
}

interface PlaceParts extends ScheduleParts {
  readonly zoneOf: (key: string) => Promise<string>;
  readonly wake: (key: string) => Promise<void>;
}

function schedulesAt(
  address: Address,
  { platformPerson, admitted }: ScheduleViewer,
  parts: PlaceParts,
): Schedules {
  const { store, admit, platform, zoneOf, wake, now, newId } = parts;
  const key = store.keyOf(address);
  const isVisible = (request: ScheduledRequest) =>
    admitted.moderator || request.person.id === admitted.id || request.address.channel === address.channel;
  return {
    list: async () => (await store.read(key)).requests.filter(isVisible),
    timeZone: () => zoneOf(key),

    async add({ when: typed, ...request }) {
      await admit({ command: request.command, address, person: platformPerson });
      const timeZone = await zoneOf(key);
      const { pattern, when } = await readWhen(typed, { timeZone, now: now() });
      const nextAt = nextRun(pattern, timeZone, now());
      const added = {
        ...request,
        id: newId(),
        pattern,
        when,
        address: platform(address.platform)?.sameChannel?.(address) ?? address,
        // As the platform reports it, because each run applies the settings of its time.
        person: { ...platformPerson, roles: [...platformPerson.roles] },
        ...(nextAt !== undefined && { nextAt }),
      };
      await store.add(key, added);
      await wake(key);
      return added;
    },

    async setPaused(id, paused) {
      const request = (await store.read(key)).requests.find((each) => each.id === id);
      if (!request) return undefined;
      const nextAt = paused ? undefined : nextRun(request.pattern, await zoneOf(key), now());
      if (!paused && nextAt === undefined)
        throw new UserError('The time of this schedule has passed. Remove it and add a new one.', 'schedule');
      const changed = await store.setPaused(key, id, nextAt);
      await wake(key);
      return changed;
    },

    remove: (id) => store.remove(key, id),

    async setTimeZone(timeZone) {
      if (!isTimeZone(timeZone))
        throw new UserError(
          `I don't know the time zone “${timeZone}”. Use a name such as Europe/Berlin.`,
          'zone',
        );
      await store.setTimeZone(key, timeZone, now());
      await wake(key);
    },
  };
}

interface Due {
  readonly at: number;
  readonly timeZone: string;
  /** An earlier attempt may have done this already. */
  readonly isRepeated: boolean;
  readonly bot: Pick<Bot, 'run'>;
}

/** Runs one occurrence. Its invocation has the same id each time, so it becomes at most one job. Throws PlatformError while the chat is down. */
async function occur(request: ScheduledRequest, due: Due, parts: ScheduleParts): Promise<void> {
  const { command, options, address, person } = request;
  const id = `${COMMAND}-${request.id}-${due.at}`;
  if (parts.now() - due.at > TOO_LATE_MS) {
    await notify(request, missedText(request, due), due, parts);
    return;
  }
  try {
    // Moderators may have denied schedules since.
    await parts.admit({ command: COMMAND, address, person });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    await notify(request, { text: plain(error.message) }, due, parts);
    return;
  }
  const outcome = await due.bot.run({ id, command, options, address, person, isAutomatic: true });
  if (outcome.type === 'accepted') outcome.begin();
  if (outcome.type === 'message') await notify(request, outcome.message, due, parts);
}

function missedText({ pattern, command, options }: ScheduledRequest, { at, timeZone }: Due): Message {
  const skipped = `I was offline at the scheduled time (${timeText(at, timeZone)}), so I skipped this run.`;
  const typed = Object.entries(options)
    .map(([name, value]) => `${name}:${value}`)
    .join(' ');
  const advice = isSingleRun(pattern)
    ? `To run it now, use ${plain(`/${command} ${typed}`)}`
    : 'The next run is still scheduled.';
  return { text: `${skipped} ${advice}` };
}

/** Posts a sentence instead of a result, in the channel or as a direct message. */
async function notify(
  request: ScheduledRequest,
  message: Message,
  { at, isRepeated }: Due,
  { platform, log }: ScheduleParts,
): Promise<void> {
  const { address, command, prompt } = request;
  const titled = { ...message, title: `Scheduled ${command}: ${prompt}` };
  const key = createHash('sha256').update(`${request.id}:${at}`).digest('hex').slice(0, 20);
  const chat = platform(address.platform);
  try {
    await chat?.show(address, titled, { key, mayHavePosted: isRepeated, remember: async () => {} });
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code === 'unavailable') throw error;
    await chat?.sendPrivately(address, titled).catch((second: unknown) => {
      log.warn({ err: second, schedule: request.id }, 'Could not report why a scheduled request did not run');
    });
  }
}
