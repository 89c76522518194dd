/** The tools of moderators' commands, put together for one person in one place. */
import type { Address, Family, Person } from '../command.ts';
import { UserError } from '../errors.ts';
import type { Models } from '../gateway/models.ts';
import type { KeptFile } from '../message.ts';
import type { Forgotten, Moderation, UsageRow, Where } from '../moderation.ts';
import { dayOf, type UsageStore } from '../storage/usage.ts';
import { ALL_COMMANDS } from './access.ts';
import { addSubject, allow, forbid, removeSubject, resetAccess } from './access-changes.ts';
import { answersInForce } from './answers.ts';
import type { DecisionStore, Edit } from './decisions.ts';
import { placeOfLimit, resetLimit, setLimit } from './limit-changes.ts';
import { describeLimit, describeLimitName } from './limit-words.ts';
import type { Meter } from './limits.ts';
import type { ModelSettings } from './models.ts';
import type { PlaceSettings } from './schema.ts';

const DAY = 24 * 3_600_000;

export interface ModerationOptions {
  readonly decisions: DecisionStore;
  readonly models: ModelSettings;
  readonly gatewayModels: Pick<Models, 'list' | 'refresh'>;
  readonly meter: Meter;
  readonly usage: UsageStore;
  /** Names of the commands that can be allowed and forbidden. */
  readonly commands: readonly string[];
  readonly hasUnits: boolean;
  /** A picture of it; undefined where none could be made. */
  readonly chart: (rows: readonly UsageRow[], days: number) => Promise<KeptFile | undefined>;
  readonly forget: (who: { readonly platform: string; readonly person: string }) => Promise<Forgotten>;
  readonly now: () => number;
}

/** @param person as the platform knows them: whether they moderate by its own right */
export function moderationFor(options: ModerationOptions, address: Address, person: Person): Moderation {
  const { decisions, models, meter, usage, now } = options;
  const change = (where: Where, edit: Edit): Promise<boolean> =>
    decisions.change(address, where, person, edit);
  const firstDay = (days: number): string => dayOf(now() - (days - 1) * DAY);
  const here = { platform: address.platform, guild: address.guild ?? '' };

  return {
    models: {
      inForce: () => models.inForce(address),
      async choose(family, name, where) {
        // The list may not have come yet, or be old: a new model is a reason to choose one.
        await options.gatewayModels.list().catch(() => []);
        const found = await models.find(family, name);
        await change(where, (settings) => ({
          settings: {
            ...settings,
            models: {
              ...settings.models,
              [family]: {
                id: found.model,
                by: { id: person.id, displayName: person.displayName },
                at: now(),
              },
            },
          },
          trace: {
            what: `model for ${family}`,
            from: settings.models[family]?.id ?? 'not chosen here',
            to: found.model,
          },
        }));
        return found;
      },
      reset: (family, where) => change(where, resetModel(family)),
      refresh: async () => (await options.gatewayModels.refresh()).length,
    },

    answers: {
      inForce: async () => answersInForce(await decisions.read(address)),
      async change(wanted, where) {
        for (const [name, value] of Object.entries(wanted)) {
          if (name === 'systemPrompt' || name === 'assistant' || name === 'footer') {
            await change(where, setAnswer(name, value));
          }
        }
      },
      reset: (what, where) => change(where, setAnswer(what, undefined)),
    },

    limits: {
      inForce: () => meter.inForce(address, person),
      async set(limit) {
        await change(placeOfLimit(limit), setLimit(limit));
        return describeLimit(limit);
      },
      async reset(limit) {
        const changed = await change(placeOfLimit(limit), resetLimit(limit));
        return { changed, sentence: describeLimitName(limit) };
      },
      async exemptModerators(exempt) {
        await change('server', (settings) => ({
          settings: { ...settings, exemptModerators: exempt },
          trace: {
            what: 'moderators are exempt from limits',
            from: settings.exemptModerators === true ? 'yes' : 'no',
            to: exempt ? 'yes' : 'no',
          },
        }));
      },
      hasUnits: options.hasUnits,
    },

    access: {
      async inForce() {
        const { channel, server } = await decisions.read(address);
        const { blocked, moderators, exemptModerators = false } = server;
        return { channel: channel.access, server: server.access, blocked, moderators, exemptModerators };
      },
      async allow(command, who, where) {
        await change(where, allow(knownCommand(command), who));
      },
      async forbid(command, who, where) {
        await change(where, forbid(knownCommand(command), who));
      },
      reset: (command, where) => change(where, resetAccess(knownCommand(command))),
      async block(who) {
        if (who.type === 'person' && who.id === person.id) {
          throw new UserError('You cannot block yourself.', 'who');
        }
        await change('server', addSubject('blocked', who));
      },
      unblock: (who) => change('server', removeSubject('blocked', who)),
      async appoint(who) {
        mustBeNative();
        await change('server', addSubject('moderators', who));
      },
      async dismiss(who) {
        mustBeNative();
        return change('server', removeSubject('moderators', who));
      },
      commands: [ALL_COMMANDS, ...options.commands],
    },

    audit: (limit) => decisions.changes(address, limit),

    async report(days) {
      const rows = await usage.days(here, firstDay(days));
      const chart = rows.length === 0 ? undefined : await options.chart(rows, days);
      return { rows, ...(chart ? { chart } : {}) };
    },

    async ownUsage(days) {
      const rows = await usage.days(here, firstDay(days));
      return rows.filter((row) => row.person === person.id);
    },

    forgetMe: () => options.forget({ platform: address.platform, person: person.id }),
  };

  /** Those who were named cannot name others, so that the circle stays the platform's to draw. */
  function mustBeNative(): void {
    if (person.moderator) return;
    throw new UserError(
      'Only those who may manage this server by its own rights can name moderators of this bot.',
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

function resetModel(family: Family): Edit {
  return (settings) => {
    const before = settings.models[family];
    if (!before) return undefined;
    const { [family]: _gone, ...models } = settings.models;
    return {
      settings: { ...settings, models },
      trace: { what: `model for ${family}`, from: before.id, to: 'not chosen here' },
    };
  };
}

const ANSWER_WORDS = {
  systemPrompt: 'system prompt',
  assistant: 'assistant',
  footer: 'footer',
} as const satisfies Partial<Record<keyof PlaceSettings, string>>;

function setAnswer(name: keyof typeof ANSWER_WORDS, value: string | boolean | undefined): Edit {
  return (settings) => {
    const before = settings[name];
    if (before === value) return undefined;
    const { [name]: _before, ...rest } = settings;
    return {
      settings: value === undefined ? rest : { ...rest, [name]: value },
      trace: { what: ANSWER_WORDS[name], from: inWords(before), to: inWords(value) },
    };
  };
}

function inWords(value: string | boolean | undefined): string {
  if (value === undefined) return 'not decided here';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value;
}
