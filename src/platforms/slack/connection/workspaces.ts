/** The workspaces that the bot works in, each with its token, its rate of edits and the people known there. */
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { PlatformError } from '../../platform.ts';
import { isTokenError, refusedToken } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { AGENT_SCOPE } from '../manifest.ts';
import { createAgentSessions } from './agent-sessions.ts';
import { createWebClient } from './client.ts';
import type { TokenOf } from './oauth/tokens.ts';
import type { ConnectionOptions } from './options.ts';
import { createPersons } from './people.ts';
import { createRates, type Rates } from './rates.ts';

const identitySchema = z
  .object({
    user_id: z.string(),
    bot_id: z.string(),
    team_id: z.string(),
    /** As people type it after the @. */
    user: z.string(),
    /** The workspace's own address. Links to its messages begin with it. */
    url: z.url().optional().catch(undefined),
    /** What the SDK reads from the head of the answer. */
    is_enterprise_install: z.boolean().optional().catch(undefined),
    enterprise_id: z.string().nullish().catch(undefined),
    response_metadata: z
      .object({ scopes: z.array(z.string()).optional() })
      .optional()
      .catch(undefined),
  })
  .transform(({ user_id: botUser, bot_id: botId, team_id: team, user: name, url, ...rest }) => ({
    botUser,
    botId,
    team,
    name,
    url,
    scopes: rest.response_metadata?.scopes ?? [],
    /** The app is installed for all workspaces of the organisation, and the token is theirs. */
    isForOrganisation: rest.is_enterprise_install === true,
    organisation: rest.enterprise_id ?? undefined,
  }));

/** Who the bot is in a workspace. */
export type Identity = z.infer<typeof identitySchema>;

export type Workspace = ReturnType<typeof createWorkspace>;

export interface Workspaces {
  /**
   * `organisation`: the one whose installation serves the workspace, where it has none of its own. Throws PlatformError when the
   * app is not installed there (any more).
   */
  of(team: string | undefined, organisation?: string): Promise<Workspace>;
}

/** An address that names the organisation whose installation reaches it, so that a job that ends later finds it. */
export function inOrganisation(address: Address, organisation: string | undefined): Address {
  if (organisation === undefined) return address;
  return { ...address, platformData: { ...address.platformData, organisation } };
}

export function organisationIn({ platformData }: Address): string | undefined {
  return z.object({ organisation: z.string() }).safeParse(platformData).data?.organisation;
}

/** What holds on when the token of a workspace is replaced. */
interface Former {
  readonly rates: Rates;
  readonly identity: { known(): Identity | undefined };
}

/** `team`: the workspace within an organisation. The organisation's token does not name it. */
export function createWorkspace(
  token: string,
  options: ConnectionOptions,
  team: string | undefined,
  { rates, identity: former }: Partial<Former> = {},
) {
  const web = createWebClient(token, options.client);
  /** Until Slack was asked with this token, who the bot was with the one before: it may have other scopes now. */
  let known = former?.known();
  let isCurrent = false;
  let reading: Promise<Identity> | undefined;

  async function ask(): Promise<Identity> {
    const { data, error } = identitySchema.safeParse(await web.auth.test());
    if (error !== undefined)
      throw new PlatformError('unavailable', 'Slack did not identify the bot', { cause: error });
    const current = data.isForOrganisation && team !== undefined ? { ...data, team } : data;
    known = current;
    isCurrent = true;
    return current;
  }

  const identity = {
    ask,
    /** Asks Slack once, and again while Slack is away. Throws the SDK's errors, and PlatformError. */
    async read(): Promise<Identity> {
      if (known !== undefined && isCurrent) return known;
      reading ??= ask().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    /** Resolves when that is known, or in a moment: for what cannot wait longer for Slack's answer. Never rejects. */
    async settle(): Promise<void> {
      if (isCurrent) return;
      await Promise.race([identity.read().catch(() => undefined), options.sleep(LIMITS.lookUpWithinMs)]);
    },
    known: () => known,
    /**
     * The workspace that the app acts in: on Slack Connect, an event may name that of the person. It never waits, and is
     * the event's own until Slack was asked.
     */
    teamOr: (inEvent: string): string => known?.team ?? inEvent,
    isForOrganisation: () => known?.isForOrganisation === true,
  };

  return {
    token,
    web,
    identity,
    persons: createPersons(web, identity, options),
    rates: rates ?? createRates(options),
    agents: createAgentSessions(web, () => known?.scopes.includes(AGENT_SCOPE) === true, options),
    /** As people type it after the @. */
    botName: () => known?.name ?? 'minstrel',
  };
}

/** Workspaces that installed the app by themselves, or whose organisation did. */
export function installedWorkspaces(tokenOf: TokenOf, options: ConnectionOptions): Workspaces {
  const known = new Map<string, Workspace>();
  return {
    async of(inEvent, organisation) {
      const team = inEvent ?? organisation ?? '';
      // Read every time, so that every replica sees what another one changed.
      const token = await tokenOf(inEvent, organisation).catch((error: unknown) => {
        known.delete(team);
        throw error;
      });
      const before = known.get(team);
      if (before?.token === token) return before;
      const workspace = createWorkspace(token, options, team, before);
      known.set(team, workspace);
      return workspace;
    },
  };
}

/** The workspaces of one token: one, or all of the organisation that installed the app. */
export function workspacesOfToken(token: string, options: ConnectionOptions) {
  const first = createWorkspace(token, options, undefined);
  const known = new Map<string, Workspace>();
  return {
    async of(team: string | undefined): Promise<Workspace> {
      if (team === undefined || !first.identity.isForOrganisation()) return first;
      const workspace = known.get(team) ?? createWorkspace(token, options, team);
      known.set(team, workspace);
      return workspace;
    },
    /** Asks Slack whether it refuses the token: a sentence that says so, undefined also while Slack is away. */
    async refusal(): Promise<string | undefined> {
      try {
        await first.identity.ask();
      } catch (error) {
        if (isTokenError(error)) return refusedToken('SLACK_BOT_TOKEN', error);
        options.log.warn({ err: error }, 'Could not reach Slack; retrying');
      }
      return undefined;
    },
  } satisfies Workspaces & { refusal(): Promise<string | undefined> };
}
