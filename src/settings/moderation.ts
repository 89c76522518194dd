/** The tools of moderator commands for one person and address. */
import type { AnyCommand } from '../core/bot/command.ts';
import { notModerator, UserError } from '../core/errors.ts';
import { type Address, type Person, serverOf, serverWord } from '../core/invocation.ts';
import type { MediaFile } from '../core/message.ts';
import {
  type DayUsage,
  type Forgotten,
  type InForce,
  MODERATION,
  type Moderation,
  type Own,
  type Resettable,
  type Rule,
  type RuleName,
  type RuleReport,
  type Where,
} from '../core/moderation.ts';
import type { System } from '../core/system.ts';
import { dayOf } from '../core/util/clock.ts';
import { present } from '../core/util/present.ts';
import type { UsageStore } from '../storage/usage.ts';
import { resetRules, setPause, setRule } from './access/changes.ts';
import { hasRuleName, isAccessRule, type PlacedRule, placedRules } from './access/precedence.ts';
import { closeAlbum, openAlbum } from './albums.ts';
import { answersInForce, pagesInForce, setValue } from './answers.ts';
import type { DecisionStore, Decisions, Edit, StoredSettings } from './decisions.ts';
import type { FeedbackStore } from './feedback.ts';
import type { Meter } from './limits/meter.ts';
import { chooseModel, type ModelSettings, resetModel } from './models.ts';
import { type Aspect, hasRelatedRules, type ReportOptions, reportOn, ruleNamesBy } from './report.ts';
import { placedText, ruleText } from './words.ts';

const DAY = 24 * 3_600_000;
/** People listed in a usage report. */
const MOST_PEOPLE = 25;

export interface ModerationOptions extends Pick<System, 'now' | 'newId'> {
  readonly decisions: DecisionStore;
  readonly models: ModelSettings;
  readonly meter: Meter;
  readonly usage: UsageStore;
  readonly feedback: Pick<FeedbackStore, 'summary'>;
  readonly commands: readonly Pick<AnyCommand, 'name' | 'family' | 'moderatorsOnly'>[];
  /** Draws a chart of the usage; undefined if that fails. */
  readonly chart: (used: readonly DayUsage[], days: number) => Promise<MediaFile | undefined>;
  readonly forget: (who: { readonly platform: string; readonly person: string }) => Promise<Forgotten>;
  /** Returns the address of a channel's album; undefined if pages have no public address. */
  readonly albumUrl: (address: Address, key: string) => string | undefined;
}

/** The settings that one person may read and change in one place. */
export interface PlaceTools extends Moderation {
  readonly inForce: InForce;
  readonly own: Own;
}

/**
 * @param person as reported by the platform, so `moderator` is the platform's own right
 * @param settings as read for this invocation; read again after a change
 */
export function moderationFor(
  options: ModerationOptions,
  address: Address,
  person: Person,
  settings?: Decisions,
): PlaceTools {
  const { decisions, models, meter, now } = options;
  let known = settings;
  const read = async (): Promise<Decisions> => known ?? decisions.read(address);
  const change = (where: Where, edit: Edit): Promise<boolean> => {
    known = undefined;
    return decisions.change(address, where, person, edit);
  };
  /** After a change for the server: the names of channels with a different setting. */
  const differingChannels = async (
    where: Where,
    differs: (own: StoredSettings) => boolean,
  ): Promise<string[]> => {
    const channels = where === 'server' ? await decisions.channels(address) : [];
    return channels.filter(({ settings: own }) => differs(own)).map(({ name }) => name);
  };
  const ruleNamesOf = ruleNamesBy(options.commands);
  const report = async (name: RuleName, where: Where, aspects: readonly Aspect[]): Promise<RuleReport> => {
    const reportOptions: ReportOptions = {
      name,
      where,
      aspects,
      settings: await read(),
      at: address,
      ruleNamesOf,
    };
    const channels = await differingChannels(where, (own) => hasRelatedRules(reportOptions, own));
    return { ...reportOn(reportOptions), channels };
  };
  const server = { platform: address.platform, guild: serverOf(address) ?? '' };
  const firstOf = (days: number) => dayOf(now() - (days - 1) * DAY);

  return {
    inForce: {
      models: async () => models.inForce(await read()),
      answers: async () => answersInForce(await read()),
      pages: async () => pagesInForce(await read(), address),
      async rules() {
        const settings = await read();
        const texts = (types: readonly Rule['type'][]) =>
          placedRules(settings)
            .filter(({ rule }) => types.includes(rule.type))
            .map((placed) => placedText(placed, address));
        return {
          limits: await meter.inForce(address, person, settings),
          exemptions: texts(['unlimited']),
          rules: texts(['allow', 'deny']),
          paused: settings.server.paused ?? false,
        };
      },
    },

    own: {
      usage: (days) => options.usage.byFamily(server, person.id, firstOf(days)),
      forget: () => options.forget({ platform: address.platform, person: person.id }),
    },

    models: {
      async choose(family, name, where) {
        const found = await models.find(family, name);
        const { id, displayName } = person;
        await change(where, chooseModel(family, found.model, { id, displayName }, now()));
        const channels = where === 'server' ? await decisions.channels(address) : [];
        const overrides = channels.flatMap(({ name: channel, settings: { models: own } }) => {
          const model = own[family]?.id;
          return model === undefined || model === found.model ? [] : [{ channel, model }];
        });
        return { ...found, overrides };
      },
    },

    answers: {
      async change({ systemPrompt, assistant, footer }, where) {
        if (systemPrompt !== undefined) await change(where, setValue('systemPrompt', systemPrompt));
        if (assistant !== undefined) await change(where, setValue('assistant', assistant));
        if (footer !== undefined) await change(where, setValue('footer', footer));
        return differingChannels(
          where,
          (own) =>
            isDifferent(own.systemPrompt, systemPrompt) ||
            isDifferent(own.assistant, assistant) ||
            isDifferent(own.footer, footer),
        );
      },
      async talk(on) {
        await change('channel', setValue('talk', on));
      },
    },

    pages: {
      async set(on, where) {
        await change(where, setValue('pages', on));
        return differingChannels(where, (own) => isDifferent(own.pages, on));
      },
      async album() {
        const url = (key: string) => options.albumUrl(address, key);
        const { album } = (await read()).channel;
        if (album !== undefined || url('') === undefined) return url(album ?? '');
        await change('channel', openAlbum(options.newId()));
        return url((await read()).channel.album ?? '');
      },
      withdrawAlbum: () => change('channel', closeAlbum),
    },

    reset: (choice, where) => change(where, resetEdit(choice)),

    rules: {
      async set(rule, where) {
        assertMayDecide(rule, where);
        await change(where, setRule(rule, { from: where, at: address }));
        return report(rule, where, [aspectOf({ rule, from: where })]);
      },
      async reset(name, where) {
        assertMayDecide(name, where);
        const settings = await read();
        const removed = placedRules(settings).filter(
          ({ rule, from }) => from === where && hasRuleName(rule, name),
        );
        await change(where, resetRules(name, { from: where, at: address }));
        const aspects = new Set<Aspect>(removed.length === 0 ? ['access'] : removed.map(aspectOf));
        // Buttons carry only the id of a person or role.
        const who = removed[0]?.rule.who ?? name.who;
        return {
          ...(await report({ ...name, who }, where, [...aspects])),
          removed: removed.map((placed) => ruleText(placed, address)),
        };
      },
      pause: (paused) => change('server', setPause(paused)),
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
  };

  /** Throws UserError if the person may not change this rule, or not in this place. */
  function assertMayDecide({ what }: RuleName, where: Where): void {
    if (what !== MODERATION) return;
    if (where === 'channel')
      throw new UserError(
        `Moderators are set for the whole ${serverWord(address)}. Add where:${serverWord(address)}.`,
        'where',
      );
    // Only the platform's own moderators may appoint others.
    if (person.moderator) return;
    throw notModerator(
      person,
      `Only people who can manage this ${serverWord(address)} can add or remove moderators. Ask one of them.`,
    );
  }
}

const aspectOf = (placed: PlacedRule): Aspect => (isAccessRule(placed) ? 'access' : 'limits');

function resetEdit(choice: Resettable): Edit {
  switch (choice) {
    case 'prompt':
      return setValue('systemPrompt', undefined);
    case 'assistant':
    case 'footer':
    case 'talk':
    case 'pages':
      return setValue(choice, undefined);
    default:
      return resetModel(choice);
  }
}

/** True if a channel has its own value that differs from the chosen one. */
function isDifferent<Value>(own: Value | undefined, chosen: Value | undefined): boolean {
  return own !== undefined && chosen !== undefined && own !== chosen;
}
