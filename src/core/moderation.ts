/** What moderators decide, and what the bot tells them. src/settings stores it. */
import { z } from 'zod';
import { FAMILIES, type Family, LIMITED, type Limited } from './family.ts';
import { type Address, serverWord } from './invocation.ts';
import type { KeptFile } from './message.ts';

/** Where a decision holds. The channel's wins over the server's; threads belong to their channel. */
export type Where = 'channel' | 'server';

/** Such as `this server`, in the platform's word. */
export const placeText = (where: Where, at: Pick<Address, 'platform'>): string =>
  `this ${where === 'server' ? serverWord(at) : where}`;

/** Where a value in force comes from. */
export type Origin = Where | 'deployment' | 'none';

/** A person as settings remember them. */
export const actorSchema = z.object({ id: z.string(), displayName: z.string() });
export type Actor = z.infer<typeof actorSchema>;

export interface ModelInForce {
  readonly family: Family;
  /** Absent when none is chosen. */
  readonly model?: string;
  readonly from: Origin;
  readonly chosenBy?: Actor;
  /** Choices that would hold, but the account no longer has the model. */
  readonly gone: readonly { readonly model: string; readonly from: Exclude<Origin, 'none'> }[];
}

export interface AnswersInForce {
  readonly systemPrompt?: { readonly text: string; readonly from: Where };
  /** Questions may use the bot's own commands. */
  readonly assistant: { readonly on: boolean; readonly from: Origin };
  /** Small print under an answer: model, route, tokens. */
  readonly footer: { readonly on: boolean; readonly from: Origin };
  /** Each message in the channel is a question. */
  readonly talk: boolean;
}

/** Whether songs have pages, which open for everybody who has the link. */
export interface PagesInForce {
  readonly on: boolean;
  readonly from: Origin;
}

const subject = z.object({ type: z.enum(['role', 'person']), id: z.string(), name: z.string().optional() });
export type Subject = z.infer<typeof subject>;

/** Roles that every platform has. */
export const EVERYONE = { type: 'role', id: 'everyone', name: 'everyone' } as const satisfies Subject;
/** People of other workspaces who share a channel. */
export const VISITORS = { type: 'role', id: 'visitors', name: 'visitors' } as const satisfies Subject;
export const MODERATORS = { type: 'role', id: 'moderators', name: 'moderators' } as const satisfies Subject;

/**
 * Reads `<@id>`, `<@&id>` (a role) and `<@id|name>`, how platforms leave a mention in an option that takes one, and the
 * roles that every platform has, by name.
 */
export function parseSubject(text: string): Subject | undefined {
  const word = text.trim();
  if (/^(?:@?everyone|@channel|@here)$/i.test(word)) return EVERYONE;
  if (/^@?visitors$/i.test(word)) return VISITORS;
  if (/^@?moderators$/i.test(word)) return MODERATORS;
  const [, role, id, name] = /^<@(&)?!?([\w-]+)(?:\|([^>]*))?>$/.exec(word) ?? [];
  if (id === undefined) return undefined;
  return { type: role === undefined ? 'person' : 'role', id, ...(name ? { name } : {}) };
}

/** What each person may ask in an hour where each message is a question, unless moderators set a limit of their own. */
export const TALK_QUESTIONS = 30;

/** In a rule: every command, or every family. */
export const ALL = 'all';
/** In a rule: the commands that are for moderators only. {@link ALL} does not include them. */
export const MODERATION = 'moderation';

/** What limits of moderators may be on. */
export const LIMITABLE = [ALL, ...LIMITED] as const;
export const LIMIT_PERIODS = ['hour', 'day'] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** How much may be used in any stretch of a period. */
export interface Limit {
  /** The first three count each person for themselves, the others all people there together. */
  readonly scope:
    | 'personInServer'
    | 'personInChannel'
    | 'personOnPlatform'
    | 'channel'
    | 'server'
    | 'deployment';
  /** Whom it is for, where it counts each person for themselves; everyone if absent. */
  readonly who?: Subject | undefined;
  /** When absent, all families together; `party`, which asks the gateway for nothing, is none of them. */
  readonly family?: Limited | undefined;
  readonly per: LimitPeriod;
  readonly of: 'requests' | 'units';
  readonly most: number;
}

export interface LimitInForce extends Limit {
  readonly from: Where | 'deployment';
  /** What counts against it now for the person who asks. */
  readonly used: number;
  /** As in `5 songs per person and day`. Plain. */
  readonly sentence: string;
}

/** What tells the rules of a place apart, besides the amounts of limits. */
export interface RuleName {
  readonly who: Subject;
  /** {@link ALL}, {@link MODERATION}, a family, which includes its commands, or a command. */
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
  /** All people of the channel or server share it. Only for everyone. */
  together: z.boolean().optional(),
});
export type LimitRule = z.infer<typeof limitRule>;

/** No limit that moderators set holds. */
const unlimitedRule = z.object({ type: z.literal('unlimited'), who: subject, what: z.enum(LIMITABLE) });
export type UnlimitedRule = z.infer<typeof unlimitedRule>;

/** What moderators decided for somebody about something. */
export const ruleSchema = z.discriminatedUnion('type', [accessRule, limitRule, unlimitedRule]);
export type Rule = z.infer<typeof ruleSchema>;

export interface RulesInForce {
  readonly limits: readonly LimitInForce[];
  /** Everything but limits, each with its place, as in `Bob may not use /image (this server)`. Plain. */
  readonly rules: readonly string[];
  /** Nothing new is taken in the server. */
  readonly paused: boolean;
}

/** What holds for somebody after a change. Plain. */
export interface RuleReport {
  /** Sentences: what applies now, and why. */
  readonly now: readonly string[];
  /** Other rules about the same thing, here or in the server. */
  readonly related: readonly string[];
  /** After a change for the server: channels that have rules of their own about it. */
  readonly channels: OwnChoices;
}

/** A change by a moderator as the settings of its place hold it. */
export const changeSchema = z.object({
  id: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  by: actorSchema,
  what: z.string(),
  from: z.string(),
  to: z.string(),
});

/** One change by a moderator. */
export interface Change extends z.infer<typeof changeSchema> {
  /** `server`, or what to call the channel. Plain. */
  readonly where: string;
}

export interface Used {
  readonly requests: number;
  /** In the operator's own units. */
  readonly units: number;
}

/** What counts for good. */
export interface SettledUsage extends Used {
  /** Of the requests, those whose end is unknown: the gateway may not have charged them. */
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

/** What a server used. */
export interface UsageSummary {
  /** By day and family. */
  readonly days: readonly DayUsage[];
  /** Those who used most, most first. */
  readonly people: readonly PersonUsage[];
  readonly peopleInAll: number;
}

/** How many votes the answers of a model got. */
export interface ModelFeedback {
  readonly model: string;
  readonly good: number;
  readonly bad: number;
}

export interface UsageReport extends UsageSummary {
  readonly feedback: readonly ModelFeedback[];
  /** Requests by day and family, as a picture. */
  readonly chart?: KeptFile;
}

export interface Forgotten {
  readonly jobs: number;
  readonly files: number;
}

export interface ChosenModel {
  /** The id that was stored. */
  readonly model: string;
  /** The display name that was given for it. */
  readonly label?: string;
  /** Whether the list was at hand. */
  readonly checked: boolean;
  /** After a choice for the server: channels that have a choice of their own, which still wins. Plain. */
  readonly others: readonly { readonly channel: string; readonly model: string }[];
}

/** After a choice for the server: channels that decided otherwise for themselves, which still holds there. Plain. */
export type OwnChoices = readonly string[];

export const RESETTABLE = [...FAMILIES, 'prompt', 'assistant', 'footer', 'talk', 'pages'] as const;
export type Resettable = (typeof RESETTABLE)[number];

/** What holds in one channel; after a change, what holds then. */
export interface InForce {
  models(): Promise<readonly ModelInForce[]>;
  answers(): Promise<AnswersInForce>;
  pages(): Promise<PagesInForce>;
  rules(): Promise<RulesInForce>;
}

/** What people may ask about themselves. */
export interface Own {
  /** What the person used here, the last so many days. */
  usage(days: number): Promise<readonly FamilyUsage[]>;
  /** Erases what is stored about the person on this platform. */
  forget(): Promise<Forgotten>;
}

/** How moderators decide, for one of them in one channel. Methods throw UserError with a sentence. */
export interface Moderation {
  readonly models: {
    choose(family: Family, name: string, where: Where): Promise<ChosenModel>;
  };
  readonly answers: {
    change(
      change: { readonly systemPrompt?: string; readonly assistant?: boolean; readonly footer?: boolean },
      where: Where,
    ): Promise<OwnChoices>;
    /** Whether each message in this channel is a question. */
    talk(on: boolean): Promise<void>;
  };
  readonly pages: {
    set(on: boolean, where: Where): Promise<OwnChoices>;
    /** The link to the songs of this channel, made once; undefined if people could not open it. */
    album(): Promise<string | undefined>;
    /** Takes that link away: the next one is another. Resolves to whether there was one. */
    withdrawAlbum(): Promise<boolean>;
  };
  /** Takes a choice back. Resolves to whether there was one. */
  reset(choice: Resettable, where: Where): Promise<boolean>;
  readonly rules: {
    /** Replaces the rule about the same. Resolves to what holds then. */
    set(rule: Rule, where: Where): Promise<RuleReport>;
    /** Takes back every rule and limit for somebody about something. Resolves to what there was, in words, and to what holds then. */
    reset(name: RuleName, where: Where): Promise<RuleReport & { readonly removed: readonly string[] }>;
    /** While the server is paused nothing new is taken, and what runs ends. Resolves to whether it was otherwise. */
    pause(paused: boolean): Promise<boolean>;
  };
  /** Changes here and in the server, newest first. */
  audit(limit: number): Promise<readonly Change[]>;
  /** Of this server, the last so many days. */
  report(days: number): Promise<UsageReport>;
}
