/** The tools of moderators' commands, put together for one person and one address. */
import { notModerator, UserError } from '../core/errors.ts';
import { type Address, type Person, serverOf, serverWord } from '../core/invocation.ts';
import type { KeptFile } from '../core/message.ts';
import type { CommandAccess, DayUsage, Forgotten, Moderation, Where } from '../core/moderation.ts';
import { present } from '../core/options.ts';
import type { System } from '../core/system.ts';
import type { Models } from '../gateway/models/models.ts';
import { dayOf } from '../storage/schedule.ts';
import type { UsageStore } from '../storage/usage.ts';
import {
  ALL_COMMANDS,
  accessTo,
  assertNotBarredElsewhere,
  decidesAccess,
  visitorsAllowed,
} from './access/access.ts';
import { addSubject, allow, forbid, removeSubject, resetAccess } from './access/changes.ts';
import { closeAlbum, openAlbum } from './albums.ts';
import { answersInForce, setValue } from './answers.ts';
import {
  type DecisionStore,
  type Decisions,
  type Edit,
  type KeptSettings,
  pagesInForce,
} from './decisions.ts';
import type { FeedbackStore } from './feedback.ts';
import { keptWith, resetLimit, setExemption, setLimit, setPause } from './limits/changes.ts';
import type { Meter } from './limits/limits.ts';
import { describeLimit, describeLimitName } from './limits/words.ts';
import { chooseModel, type ModelSettings, resetModel } from './models.ts';

const DAY = 24 * 3_600_000;
/** People that a report of usage names. */
const MOST_PEOPLE = 25;

export interface ModerationOptions extends Pick<System, 'now' | 'newId'> {
  readonly decisions: DecisionStore;
  readonly models: ModelSettings;
  readonly gatewayModels: Pick<Models, 'list' | 'refresh'>;
  readonly meter: Meter;
  readonly usage: UsageStore;
  readonly feedback: Pick<FeedbackStore, 'summary'>;
  /** Names of the commands that can be allowed and forbidden. */
  readonly commands: readonly string[];
  readonly hasUnits: boolean;
  /** A picture of it; undefined where none could be made. */
  readonly chart: (used: readonly DayUsage[], days: number) => Promise<KeptFile | undefined>;
  readonly forget: (who: { readonly platform: string; readonly person: string }) => Promise<Forgotten>;
  /** Where people open the songs of a channel; undefined where they could not. */
  readonly albumUrl: (address: Address, key: string) => string | undefined;
}

/**
 * @param person as the platform knows them: whether they moderate by its own right
 * @param settings as they were read for this invocation; they are read again after a change
 */
export function moderationFor(
  options: ModerationOptions,
  address: Address,
  person: Person,
  settings?: Decisions,
): Moderation {
  const { decisions, models, meter, now } = options;
  let known = settings;
  const read = async (): Promise<Decisions> => known ?? decisions.read(address);
  const change = (where: Where, edit: Edit): Promise<boolean> => {
    known = undefined;
    return decisions.change(address, where, person, edit);
  };
  /** After a change for the server: what the channels are called whose own choice is another. */
  const othersThan = async (where: Where, isOther: (own: KeptSettings) => boolean): Promise<string[]> => {
    const channels = where === 'server' ? await decisions.channels(address) : [];
    return channels.filter(({ settings: own }) => isOther(own)).map(({ name }) => name);
  };
  const accessNow = async (command: string, where: Where): Promise<CommandAccess> => ({
    ...accessTo(command, where, await read()),
    others: await othersThan(where, (own) => decidesAccess(command, own)),
  });
  const server = { platform: address.platform, guild: serverOf(address) ?? '' };
  const firstOf = (days: number) => dayOf(now() - (days - 1) * DAY);

  return {
    models: {
      inForce: async () => models.inForce(await read()),
      async choose(family, name, where) {
        // The list may not have come yet, or be old: a new model is a reason to choose one.
        await options.gatewayModels.list().catch(() => []);
        const found = models.find(family, name);
        const { id, displayName } = person;
        await change(where, chooseModel(family, found.model, { id, displayName }, now()));
        const channels = where === 'server' ? await decisions.channels(address) : [];
        const others = channels.flatMap(({ name: channel, settings: { models: own } }) => {
          const model = own[family]?.id;
          return model === undefined || model === found.model ? [] : [{ channel, model }];
        });
        return { ...found, others };
      },
      reset: (family, where) => change(where, resetModel(family)),
      refresh: async () => (await options.gatewayModels.refresh()).length,
    },

    answers: {
      inForce: async () => answersInForce(await read()),
      async change({ systemPrompt, assistant, footer }, where) {
        if (systemPrompt !== undefined) await change(where, setValue('systemPrompt', systemPrompt));
        if (assistant !== undefined) await change(where, setValue('assistant', assistant));
        if (footer !== undefined) await change(where, setValue('footer', footer));
        return othersThan(
          where,
          (own) =>
            isAnother(own.systemPrompt, systemPrompt) ||
            isAnother(own.assistant, assistant) ||
            isAnother(own.footer, footer),
        );
      },
      reset: (what, where) => change(where, setValue(what, undefined)),
      async talk(on) {
        await change('channel', setValue('talk', on ? true : undefined));
      },
    },

    pages: {
      inForce: async () => pagesInForce(await read(), address),
      async set(on, where) {
        await change(where, setValue('pages', on));
        return othersThan(where, (own) => isAnother(own.pages, on));
      },
      reset: (where) => change(where, setValue('pages', undefined)),
      async album() {
        const url = (key: string) => options.albumUrl(address, key);
        const { album } = (await read()).channel;
        if (album !== undefined || url('') === undefined) return url(album ?? '');
        await change('channel', openAlbum(options.newId()));
        return url((await read()).channel.album ?? '');
      },
      withdrawAlbum: () => change('channel', closeAlbum),
    },

    limits: {
      inForce: async () => meter.inForce(address, person, await read()),
      async set(limit) {
        await change(keptWith(limit), setLimit(limit, address));
        return describeLimit(limit, address);
      },
      async reset(limit) {
        const changed = await change(keptWith(limit), resetLimit(limit, address));
        return { changed, sentence: describeLimitName(limit, address) };
      },
      async exemptModerators(exempt) {
        await change('server', setExemption(exempt));
      },
      pause: (paused) => change('server', setPause(paused)),
      hasUnits: options.hasUnits,
    },

    access: {
      async inForce() {
        const { channel, server } = await read();
        const { blocked, moderators, exemptModerators = false, paused = false } = server;
        return {
          channel: channel.access,
          server: server.access,
          barred: { channel: channel.barred, server: server.barred },
          blocked,
          moderators,
          exemptModerators,
          visitors: visitorsAllowed({ channel, server }),
          paused,
        };
      },
      async allow(command, who, where) {
        const name = knownCommand(command);
        if (who) assertNotBarredElsewhere(name, who, where, await read());
        await change(where, allow(name, who));
        return accessNow(name, where);
      },
      async forbid(command, who, where) {
        const name = knownCommand(command);
        await change(where, forbid(name, who));
        return accessNow(name, where);
      },
      reset: (command, where) => change(where, resetAccess(knownCommand(command))),
      async allowVisitors(allowed, where) {
        await change(where, setValue('visitors', allowed));
        return othersThan(where, (own) => isAnother(own.visitors, allowed));
      },
      resetVisitors: (where) => change(where, setValue('visitors', undefined)),
      async block(who) {
        if (who.type === 'person' && who.id === person.id) {
          throw new UserError('You cannot block yourself.', 'who');
        }
        await change('server', addSubject('blocked', who));
      },
      unblock: (who) => change('server', removeSubject('blocked', who)),
      async appoint(who) {
        assertNative();
        await change('server', addSubject('moderators', who));
      },
      async dismiss(who) {
        assertNative();
        return change('server', removeSubject('moderators', who));
      },
      commands: [ALL_COMMANDS, ...options.commands],
    },

    audit: (limit) => decisions.changes(address, limit),

    async report(days) {
      const [summary, feedback] = await Promise.all([
        options.usage.summary(server, firstOf(days), MOST_PEOPLE),
        options.feedback.summary(address, firstOf(days), days),
      ]);
      const { days: used } = summary;
      return present({
        ...summary,
        feedback,
        chart: used.length === 0 ? undefined : await options.chart(used, days),
      });
    },

    ownUsage: (days) => options.usage.byFamily(server, person.id, firstOf(days)),

    forgetMe: () => options.forget({ platform: address.platform, person: person.id }),
  };

  /** Moderators whom others named cannot name more: the platform decides who may. */
  function assertNative(): void {
    if (person.moderator) return;
    throw notModerator(
      person,
      `Only those who may manage this ${serverWord(address)} by its own rights can name moderators of this bot.`,
    );
  }

  function knownCommand(name: string): string {
    const bare = name.trim().replace(/^\//, '').toLowerCase();
    if (bare === ALL_COMMANDS || options.commands.includes(bare)) return bare;
    throw new UserError(
      `There is no command “${name}” to decide about. There are ${[ALL_COMMANDS, ...options.commands].join(', ')}.`,
      'command',
    );
  }
}

/** Whether a channel decided for itself, and otherwise than was chosen now. */
function isAnother<Value>(own: Value | undefined, chosen: Value | undefined): boolean {
  return own !== undefined && chosen !== undefined && own !== chosen;
}
