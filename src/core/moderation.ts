/** Settings and rules of moderators. src/settings stores them. */
import { z } from 'zod';
import { type Address, serverOf, serverWord } from './invocation.ts';
import type { MediaFile } from './message.ts';
import { FAMILIES, type Family, LIMITED, type Limited } from './models/family.ts';

/** The scope of a setting. The channel's setting wins over the server's; threads belong to their channel. */
export type Where = 'channel' | 'server';

/** The parts of an address that its scopes are named by. */
export type ScopeAddress = Pick<Address, 'platform' | 'guild' | 'direct'>;

/** The scope in words, such as `this server` or `this workspace`. */
export const scopeText = (where: Where, at: ScopeAddress): string =>
  `this ${where === 'server' ? serverWord(at) : serverOf(at) === undefined ? 'chat' : 'channel'}`;

/** The source of an effective value. */
export type Origin = Where | 'deployment' | 'none';

/** A person as stored in settings. */
export const actorSchema = z.object({ id: z.string(), displayName: z.string() });
export type Actor = z.infer<typeof actorSchema>;

export interface ModelInForce {
  readonly family: Family;
  /** Absent if no model is chosen. */
  readonly model?: string;
  readonly from: Origin;
  readonly chosenBy?: Actor;
  /** Choices that would apply if the account still had the model. */
  readonly unavailable: readonly { readonly model: string; readonly from: Exclude<Origin, 'none'> }[];
}

export interface AnswersInForce {
  readonly systemPrompt?: { readonly text: string; readonly from: Where };
  /** Questions may use the bot's own commands. */
  readonly assistant: { readonly on: boolean; readonly from: Origin };
  /** Small print below an answer: model, route, tokens. */
  readonly footer: { readonly on: boolean; readonly from: Origin };
  /** Each message in the channel is a question. */
  readonly talk: boolean;
}

/** Whether songs have pages. Everyone with the link can open one. */
export interface PagesInForce {
  readonly on: boolean;
  readonly from: Origin;
}

const subject = z.object({ type: z.enum(['role', 'person']), id: z.string(), name: z.string().optional() });
export type Subject = z.infer<typeof subject>;

/** A role on every platform. */
export const EVERYONE = { type: 'role', id: 'everyone', name: 'everyone' } as const satisfies Subject;
/** People from other workspaces who share a channel. */
export const VISITORS = { type: 'role', id: 'visitors', name: 'visitors' } as const satisfies Subject;
export const MODERATORS = { type: 'role', id: 'moderators', name: 'moderators' } as const satisfies Subject;

/** Parses a mention, which platforms pass as `<@id>`, `<@&id>` (a role) or `<@id|name>`, or the name of a built-in role. */
export function parseSubject(text: string): Subject | undefined {
  const word = text.trim();
  if (/^(?:@?everyone|@channel|@here)$/i.test(word)) return EVERYONE;
  if (/^@?visitors$/i.test(word)) return VISITORS;
  if (/^@?moderators$/i.test(word)) return MODERATORS;
  const [, role, id, name] = /^<@(&)?!?([\w-]+)(?:\|([^>]*))?>$/.exec(word) ?? [];
  if (id === undefined) return undefined;
  return { type: role === undefined ? 'person' : 'role', id, ...(name ? { name } : {}) };
}

/** Default limit of questions per person per hour in channels where each message is a question. */
export const TALK_QUESTIONS = 30;

/** In a rule: every command, or every family. */
export const ALL = 'all';
/** In a rule: the commands that are for moderators only. {@link ALL} does not include them. */
export const MODERATION = 'moderation';

/** Moderators can limit these. */
export const LIMITABLE = [ALL, ...LIMITED] as const;
export const LIMIT_PERIODS = ['hour', 'day'] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** The most that may be used in any hour or day. */
export interface Limit {
  /** The first three count each person separately, the others everyone together. */
  readonly scope:
    | 'personInServer'
    | 'personInChannel'
    | 'personOnPlatform'
    | 'channel'
    | 'server'
    | 'deployment';
  /** The people a per-person limit applies to; everyone if absent. */
  readonly who?: Subject | undefined;
  /** All families together if absent, except `party`, which sends nothing to the gateway. */
  readonly family?: Limited | undefined;
  readonly per: LimitPeriod;
  readonly of: 'requests' | 'units';
  readonly most: number;
}

export interface LimitInForce extends Limit {
  /** `default`: applies to this channel because nobody set another. */
  readonly from: Where | 'deployment' | 'default';
  /** Current usage that counts towards the limit, for the person who asks. */
  readonly used: number;
  /** Plain text, such as `5 songs per person per day`. */
  readonly sentence: string;
}

/** The key of a rule within its scope. Limits with different amounts have the same key. */
export interface RuleName {
  readonly who: Subject;
  /** {@link ALL}, {@link MODERATION}, a command, or a family, which includes its commands. */
  readonly what: string;
}

const accessRule = z.object({ type: z.enum(['allow', 'deny']), who: subject, what: z.string() });
export type AccessRule = z.infer<typeof accessRule>;

const limitRule = z.object({
  type: z.literal('limit'),
  who: subject,
  what: z.enum(LIMITABLE),
  per: z.enum(LIMIT_PERIODS),
  of: z.enum(['requests', 'units']),
  most: z.number().min(0),
  /** Everyone in the channel or server shares the limit. Only valid for {@link EVERYONE}. */
  together: z.boolean().optional(),
});
export type LimitRule = z.infer<typeof limitRule>;

/** Exempts somebody from the limits of moderators. */
const unlimitedRule = z.object({ type: z.literal('unlimited'), who: subject, what: z.enum(LIMITABLE) });
export type UnlimitedRule = z.infer<typeof unlimitedRule>;

/** A rule of moderators. */
export const ruleSchema = z.discriminatedUnion('type', [accessRule, limitRule, unlimitedRule]);
export type Rule = z.infer<typeof ruleSchema>;

export interface RulesInForce {
  readonly limits: readonly LimitInForce[];
  /** People without a limit, as plain text such as `no limit on songs for Bob (this server)`. */
  readonly exemptions: readonly string[];
  /** Access rules, as plain text such as `Bob can't use /image (this server)`. */
  readonly rules: readonly string[];
  /** The server accepts no new requests. */
  readonly paused: boolean;
}

/** The effect of a change to the rules, as plain text. */
export interface RuleReport {
  /** The current rule and the reason. */
  readonly now: readonly string[];
  /** Other rules on the same subject, here or in the server. */
  readonly related: readonly string[];
  /** After a change for the server: channels with their own rules on it. */
  readonly channels: ChannelOverrides;
}

/** A change by a moderator, as stored. */
export const changeSchema = z.object({
  id: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  by: actorSchema,
  what: z.string(),
  from: z.string(),
  to: z.string(),
});

/** A change by a moderator, with its scope. */
export interface Change extends z.infer<typeof changeSchema> {
  /** `server`, or the name of the channel. Plain text. */
  readonly where: string;
}

export interface Used {
  readonly requests: number;
  /** Cost in the units of USAGE_COSTS. */
  readonly units: number;
}

/** Usage that is final. */
export interface SettledUsage extends Used {
  /** Requests with an unknown end, included in `requests`. The gateway may not have charged for them. */
  readonly uncertain: number;
}

export interface FamilyUsage extends SettledUsage {
  readonly family: string;
}

export interface DayUsage extends FamilyUsage {
  /** UTC, as `2026-01-31`. */
  readonly day: string;
}

export interface PersonUsage extends SettledUsage {
  readonly person: string;
  readonly displayName: string;
}

/** Usage of a server. */
export interface UsageSummary {
  /** By day and family. */
  readonly days: readonly DayUsage[];
  /** Top users, highest usage first. */
  readonly people: readonly PersonUsage[];
  readonly peopleInAll: number;
}

/** Votes on the answers of a model. */
export interface ModelFeedback {
  readonly model: string;
  readonly good: number;
  readonly bad: number;
}

export interface UsageReport extends UsageSummary {
  readonly feedback: readonly ModelFeedback[];
  /** Image of the requests by day and family. */
  readonly chart?: MediaFile;
}

export interface Forgotten {
  readonly jobs: number;
  readonly files: number;
}

export interface ChosenModel {
  /** The stored id. */
  readonly model: string;
  /** Display name of the model. */
  readonly label?: string;
  /** Whether the model list was available to check the id. */
  readonly checked: boolean;
  /** After a choice for the server: channels whose own choice still wins. Plain text. */
  readonly overrides: readonly { readonly channel: string; readonly model: string }[];
}

/** After a change for the server: channels whose own choice still applies. Plain text. */
export type ChannelOverrides = readonly string[];

export const RESETTABLE = [...FAMILIES, 'prompt', 'assistant', 'footer', 'talk', 'pages'] as const;
export type Resettable = (typeof RESETTABLE)[number];

/** The effective settings of a channel. */
export interface InForce {
  models(): Promise<readonly ModelInForce[]>;
  answers(): Promise<AnswersInForce>;
  pages(): Promise<PagesInForce>;
  rules(): Promise<RulesInForce>;
}

/** A person's access to their own data. */
export interface Own {
  /** The person's usage here in the last `days`. */
  usage(days: number): Promise<readonly FamilyUsage[]>;
  /** Erases all data about the person on this platform. */
  forget(): Promise<Forgotten>;
}

/** Changes settings as one moderator in one channel. Methods throw UserError. */
export interface Moderation {
  readonly models: {
    choose(family: Family, name: string, where: Where): Promise<ChosenModel>;
  };
  readonly answers: {
    change(
      change: { readonly systemPrompt?: string; readonly assistant?: boolean; readonly footer?: boolean },
      where: Where,
    ): Promise<ChannelOverrides>;
    /** Whether each message in this channel is a question. */
    talk(on: boolean): Promise<void>;
  };
  readonly pages: {
    set(on: boolean, where: Where): Promise<ChannelOverrides>;
    /** The link to the songs of this channel, created once; undefined if people could not open it. */
    album(): Promise<string | undefined>;
    /** Revokes that link; the next one will be different. Resolves to false if there was no link. */
    withdrawAlbum(): Promise<boolean>;
  };
  /** Resets a setting. Resolves to false if it was not set. */
  reset(choice: Resettable, where: Where): Promise<boolean>;
  readonly rules: {
    /** Sets a rule, replacing the one with the same key. */
    set(rule: Rule, where: Where): Promise<RuleReport>;
    /** Removes every rule and limit with this key. `removed` describes them. */
    reset(name: RuleName, where: Where): Promise<RuleReport & { readonly removed: readonly string[] }>;
    /** Pauses or resumes the server. While paused, running jobs finish but new requests are refused. Resolves to false if unchanged. */
    pause(paused: boolean): Promise<boolean>;
  };
  /** Changes to this channel and the server, newest first. */
  audit(limit: number): Promise<readonly Change[]>;
  /** Usage of this server in the last `days`. */
  report(days: number): Promise<UsageReport>;
}
