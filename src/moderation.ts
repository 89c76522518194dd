/** What moderators decide, and what the bot tells them. Words only: the settings room keeps them. */
import type { Family } from './command.ts';
import type { KeptFile } from './message.ts';

/** Where a decision holds. The channel's wins over the server's; threads belong to their channel. */
export type Where = 'channel' | 'server';

/** Where a value in force comes from. */
export type Origin = Where | 'deployment' | 'nobody';

export const FAMILIES = ['song', 'ask', 'image', 'video'] as const satisfies readonly Family[];

/** A person as settings remember them. */
export interface Actor {
  readonly id: string;
  readonly displayName: string;
}

export interface ModelInForce {
  readonly family: Family;
  /** Absent when nobody has chosen. */
  readonly model?: string;
  readonly from: Origin;
  readonly chosenBy?: Actor;
  /** Choices that would hold, but the account no longer has the model. */
  readonly gone: readonly { readonly model: string; readonly from: Where }[];
}

export interface AnswersInForce {
  readonly systemPrompt?: { readonly text: string; readonly from: Where };
  readonly assistant: { readonly on: boolean; readonly from: Origin };
  readonly footer: { readonly on: boolean; readonly from: Origin };
}

export type Subject = {
  readonly type: 'role' | 'person';
  readonly id: string;
  readonly name?: string | undefined;
};

/** Reads `<@id>`, `<@&id>` (a role) and `<@id|name>`: how platforms leave a mention in an option that takes one. */
export function parseSubject(text: string): Subject | undefined {
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
  /** Only for `person`: this person, or each person with this role. It takes the place of the limit for everybody. */
  readonly who?: Subject | undefined;
  /** All families together when absent. */
  readonly family?: Family | undefined;
  readonly per: LimitPeriod;
  readonly of: 'requests' | 'units';
  readonly most: number;
}

/** What tells one limit from another, whatever its amount. */
export type LimitName = Omit<Limit, 'most'>;

export interface LimitInForce extends Limit {
  readonly from: Where | 'deployment';
  /** What counts against it now for the person who looks. */
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

export interface AccessInForce {
  /** By command, or `all`; only where somebody decided. */
  readonly channel: Readonly<Record<string, AccessRule>>;
  readonly server: Readonly<Record<string, AccessRule>>;
  readonly blocked: readonly Subject[];
  readonly moderators: readonly Subject[];
  readonly exemptModerators: boolean;
}

/** One change by a moderator. */
export interface Change {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: Actor;
  /** `server`, or the id of the channel. */
  readonly place: string;
  readonly what: string;
  readonly from: string;
  readonly to: string;
}

export interface UsageRow {
  readonly day: string;
  readonly person: string;
  readonly displayName: string;
  readonly family: string;
  readonly requests: number;
  readonly units: number;
}

export interface UsageReport {
  readonly rows: readonly UsageRow[];
  /** Requests by day and family, as a picture. */
  readonly chart?: KeptFile;
}

export interface Forgotten {
  readonly jobs: number;
  readonly files: number;
}

/** The tools of moderators' commands, for one person in one place. Methods throw UserError with a sentence. */
export interface Moderation {
  readonly models: {
    inForce(): Promise<readonly ModelInForce[]>;
    /** Resolves to the id that was stored; `label`: a display name was given for it; `checked`: the list was at hand. */
    choose(
      family: Family,
      name: string,
      where: Where,
    ): Promise<{ readonly model: string; readonly label?: string; readonly checked: boolean }>;
    reset(family: Family, where: Where): Promise<boolean>;
    /** Fetches the list now; resolves to how many models the account has. */
    refresh(): Promise<number>;
  };
  readonly answers: {
    inForce(): Promise<AnswersInForce>;
    change(
      change: { readonly systemPrompt?: string; readonly assistant?: boolean; readonly footer?: boolean },
      where: Where,
    ): Promise<void>;
    reset(what: 'systemPrompt' | 'assistant' | 'footer', where: Where): Promise<boolean>;
  };
  readonly limits: {
    inForce(): Promise<readonly LimitInForce[]>;
    /** Resolves to the limit in words, as in `5 songs per person and day`. Plain. */
    set(limit: Limit): Promise<string>;
    /** `sentence`: what is not limited now, as in `songs per person and day`. Plain. */
    reset(limit: LimitName): Promise<{ readonly changed: boolean; readonly sentence: string }>;
    exemptModerators(exempt: boolean): Promise<void>;
    /** Whether the operator gave prices, so that limits in units mean something. */
    readonly hasUnits: boolean;
  };
  readonly access: {
    inForce(): Promise<AccessInForce>;
    /** Without somebody: everyone. */
    allow(command: string, who: Subject | undefined, where: Where): Promise<void>;
    /** Without somebody: nobody. */
    forbid(command: string, who: Subject | undefined, where: Where): Promise<void>;
    reset(command: string, where: Where): Promise<boolean>;
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
  ownUsage(days: number): Promise<readonly UsageRow[]>;
  /** Erases what is stored about the person on this platform. */
  forgetMe(): Promise<Forgotten>;
}
