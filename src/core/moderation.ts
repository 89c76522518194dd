/** What moderators decide, and what the bot tells them. Types only: src/settings stores it. */
import type { Family, Limited } from './family.ts';
import type { KeptFile } from './message.ts';

/** Where a decision holds. The channel's wins over the server's; threads belong to their channel. */
export type Where = 'channel' | 'server';

/** Where a value in force comes from. */
export type Origin = Where | 'deployment' | 'none';

/** A person as settings remember them. */
export interface Actor {
  readonly id: string;
  readonly displayName: string;
}

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
  readonly assistant: { readonly on: boolean; readonly from: Origin };
  readonly footer: { readonly on: boolean; readonly from: Origin };
  /** Each message in the channel is a question. */
  readonly talk: boolean;
}

/** Whether songs have pages, which open for everybody who has the link. */
export interface PagesInForce {
  readonly on: boolean;
  readonly from: Origin;
}

export type Subject = {
  readonly type: 'role' | 'person';
  readonly id: string;
  readonly name?: string | undefined;
};

/** The role that everybody has, on every platform. */
export const EVERYONE = { type: 'role', id: 'everyone', name: 'everyone' } as const satisfies Subject;

/**
 * Reads `<@id>`, `<@&id>` (a role) and `<@id|name>`, how platforms leave a mention in an option that takes one, and
 * `@everyone` by any of its names.
 */
export function parseSubject(text: string): Subject | undefined {
  if (/^(?:@?everyone|@channel|@here)$/i.test(text.trim())) return EVERYONE;
  const [, role, id, name] = /^<@(&)?!?([\w-]+)(?:\|([^>]*))?>$/.exec(text.trim()) ?? [];
  if (id === undefined) return undefined;
  return { type: role === undefined ? 'person' : 'role', id, ...(name ? { name } : {}) };
}

export const LIMIT_PERIODS = ['hour', 'day'] as const;
export type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** How much may be used in any stretch of a period. */
export interface Limit {
  /** `person`: each person for themselves. The others: all people there together. */
  readonly scope: 'person' | 'channel' | 'server' | 'deployment';
  /** Only for `person`: this person, or each person with this role. It replaces the limit for everybody. */
  readonly who?: Subject | undefined;
  /** When absent, all families together; `party`, which asks the gateway for nothing, is none of them. */
  readonly family?: Limited | undefined;
  readonly per: LimitPeriod;
  readonly of: 'requests' | 'units';
  readonly most: number;
}

/** What tells one limit from another. Its amount does not. */
export type LimitName = Omit<Limit, 'most'>;

export interface LimitInForce extends Limit {
  readonly from: Where | 'deployment';
  /** What counts against it now for the person who asks. */
  readonly used: number;
  /** As in `5 songs per person and day`. Plain. */
  readonly sentence: string;
}

/** Who may use a command. `everyone` beats the lists. */
export interface AccessRule {
  readonly everyone: boolean;
  readonly roles: readonly Subject[];
  readonly people: readonly Subject[];
}

/** Who may use a command in a channel, or in a server as far as its channels decide nothing. */
export interface CommandAccess {
  /** As it is known, or `all`. */
  readonly command: string;
  /** The rule that holds, and where it was said; when absent, everyone may. */
  readonly said?: { readonly rule: AccessRule; readonly from: Where };
  /** Who may not, in spite of the rule. */
  readonly barred: readonly Subject[];
  /** Of all commands: those about which something was said that holds besides. */
  readonly named: readonly string[];
  readonly others: OwnChoices;
}

export interface AccessInForce {
  /** By command, or `all`; only where somebody decided. */
  readonly channel: Readonly<Record<string, AccessRule>>;
  readonly server: Readonly<Record<string, AccessRule>>;
  /** By command, or `all`: who may not use it, in spite of the rules. */
  readonly barred: Readonly<Record<Where, Readonly<Record<string, readonly Subject[]>>>>;
  readonly blocked: readonly Subject[];
  readonly moderators: readonly Subject[];
  readonly exemptModerators: boolean;
  /** Whether people of other workspaces that share the channel are served. */
  readonly visitors: boolean;
  /** Nothing new is taken in the server. */
  readonly paused: boolean;
}

/** One change by a moderator. */
export interface Change {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: Actor;
  /** `server`, or what to call the channel. Plain. */
  readonly where: string;
  readonly what: string;
  readonly from: string;
  readonly to: string;
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

/** The tools of moderators' commands, for one person in one channel. Methods throw UserError with a sentence. */
export interface Moderation {
  readonly models: {
    inForce(): Promise<readonly ModelInForce[]>;
    choose(family: Family, name: string, where: Where): Promise<ChosenModel>;
    reset(family: Family, where: Where): Promise<boolean>;
    /** Fetches the list now; resolves to how many models the account has. */
    refresh(): Promise<number>;
  };
  readonly answers: {
    inForce(): Promise<AnswersInForce>;
    change(
      change: { readonly systemPrompt?: string; readonly assistant?: boolean; readonly footer?: boolean },
      where: Where,
    ): Promise<OwnChoices>;
    reset(what: 'systemPrompt' | 'assistant' | 'footer', where: Where): Promise<boolean>;
    /** Whether each message in this channel is a question. */
    talk(on: boolean): Promise<void>;
  };
  readonly pages: {
    inForce(): Promise<PagesInForce>;
    set(on: boolean, where: Where): Promise<OwnChoices>;
    reset(where: Where): Promise<boolean>;
    /** The link to the songs of this channel, made once; undefined if people could not open it. */
    album(): Promise<string | undefined>;
    /** Takes that link away: the next one is another. Resolves to whether there was one. */
    withdrawAlbum(): Promise<boolean>;
  };
  readonly limits: {
    inForce(): Promise<readonly LimitInForce[]>;
    /** Resolves to the limit in words, as in `5 songs per person and day`. Plain. */
    set(limit: Limit): Promise<string>;
    /** `sentence`: what is not limited now, as in `songs per person and day`. Plain. */
    reset(limit: LimitName): Promise<{ readonly changed: boolean; readonly sentence: string }>;
    exemptModerators(exempt: boolean): Promise<void>;
    /** While the server is paused nothing new is taken, and what runs ends. Resolves to whether it was otherwise. */
    pause(paused: boolean): Promise<boolean>;
    /** Whether the operator gave prices, so that limits in units mean something. */
    readonly hasUnits: boolean;
  };
  readonly access: {
    inForce(): Promise<AccessInForce>;
    /** Without a subject: for all. Resolves to what holds then. Throws UserError for a subject that stays barred all the same. */
    allow(command: string, who: Subject | undefined, where: Where): Promise<CommandAccess>;
    /** Without a subject, for all. With one, for that person or role, in spite of the rule for all. */
    forbid(command: string, who: Subject | undefined, where: Where): Promise<CommandAccess>;
    reset(command: string, where: Where): Promise<boolean>;
    /** Whether people of other workspaces that share a channel are served. */
    allowVisitors(allowed: boolean, where: Where): Promise<OwnChoices>;
    resetVisitors(where: Where): Promise<boolean>;
    block(who: Subject): Promise<void>;
    unblock(who: Subject): Promise<boolean>;
    /** Only for those who moderate by the platform's own right. */
    appoint(who: Subject): Promise<void>;
    dismiss(who: Subject): Promise<boolean>;
    /** Names of what can be allowed and forbidden. */
    readonly commands: readonly string[];
  };
  /** Changes here and in the server, newest first. */
  audit(limit: number): Promise<readonly Change[]>;
  /** Of this server, the last so many days. */
  report(days: number): Promise<UsageReport>;
  /** What the person used themselves here, the last so many days. */
  ownUsage(days: number): Promise<readonly FamilyUsage[]>;
  /** Erases what is stored about the person on this platform. */
  forgetMe(): Promise<Forgotten>;
}
