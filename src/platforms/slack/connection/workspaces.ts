/** The workspaces that the bot serves, each with its token, rate limits and people. */
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { PlatformError } from '../../platform.ts';
import { isTokenError, rejectedToken } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { AGENT_SCOPE } from '../manifest.ts';
import { createAgentSessions } from './agent-sessions.ts';
import { createWebClient } from './client.ts';
import type { TokenOf } from './oauth/tokens.ts';
import type { ConnectionOptions } from './options.ts';
import { createPeople } from './people.ts';
import { createRates, type Rates } from './rates.ts';

const identitySchema = z
  .object({
    user_id: z.string(),
    bot_id: z.string(),
    team_id: z.string(),
    /** The bot's username, as typed after the @. */
    user: z.string(),
    /** The workspace's URL, the base of links to its messages. */
    url: z.url().optional().catch(undefined),
    /** The SDK reads the scopes from the response headers. */
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
    /** The token is valid for all workspaces of the organisation. */
    isForOrganisation: rest.is_enterprise_install === true,
    organisation: rest.enterprise_id ?? undefined,
  }));

/** The bot's identity in a workspace. */
export type Identity = z.infer<typeof identitySchema>;

export type Workspace = ReturnType<typeof createWorkspace>;

export interface Workspaces {
  /**
   * `organisation`: the organisation whose installation covers the workspace, if the workspace has no installation itself.
   * Throws PlatformError if the app is not installed there.
   */
  of(team: string | undefined, organisation?: string): Promise<Workspace>;
}

/** Adds the organisation to an address, so that a later step of the job finds its installation. */
export function withOrganisation(address: Address, organisation: string | undefined): Address {
  if (organisation === undefined) return address;
  return { ...address, platformData: { ...address.platformData, organisation } };
}

export function organisationOfAddress({ platformData }: Address): string | undefined {
  return z.object({ organisation: z.string() }).safeParse(platformData).data?.organisation;
}

/** Survives the replacement of a workspace's token. */
interface Previous {
  readonly rates: Rates;
  readonly identity: { known(): Identity | undefined };
}

/** `team`: the workspace within an organisation, because the organisation's token does not name it. */
export function createWorkspace(
  token: string,
  options: ConnectionOptions,
  team: string | undefined,
  { rates, identity: previousIdentity }: Partial<Previous> = {},
) {
  const web = createWebClient(token, options.client);
  /** The identity from the previous token until the new one is checked: its scopes may differ. */
  let known = previousIdentity?.known();
  let isCurrent = false;
  let pending: Promise<Identity> | undefined;

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
    /** Reads the identity once, and retries after a failure. Throws the SDK's errors, and PlatformError. */
    async read(): Promise<Identity> {
      if (known !== undefined && isCurrent) return known;
      pending ??= ask().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    /** Waits for the identity for at most a second, ahead of an acknowledgement. Never rejects. */
    async settle(): Promise<void> {
      if (isCurrent) return;
      await Promise.race([identity.read().catch(() => undefined), options.sleep(LIMITS.lookUpWithinMs)]);
    },
    known: () => known,
    /**
     * The workspace that the app acts in. On Slack Connect, an event may name the person's workspace instead. Never waits:
     * uses the event's workspace until the identity is known.
     */
    teamOr: (eventTeam: string): string => known?.team ?? eventTeam,
    isForOrganisation: () => known?.isForOrganisation === true,
  };

  return {
    token,
    web,
    identity,
    people: createPeople(web, identity, options),
    rates: rates ?? createRates(options),
    agents: createAgentSessions(web, () => known?.scopes.includes(AGENT_SCOPE) === true, options),
    /** The bot's username, as typed after the @. */
    botName: () => known?.name ?? 'minstrel',
  };
}

/** Workspaces that installed the app themselves or through their organisation. */
export function installedWorkspaces(tokenOf: TokenOf, options: ConnectionOptions): Workspaces {
  const known = new Map<string, Workspace>();
  return {
    async of(eventTeam, organisation) {
      const team = eventTeam ?? organisation ?? '';
      // Read every time, so that every replica sees changes by the others.
      const token = await tokenOf(eventTeam, organisation).catch((error: unknown) => {
        known.delete(team);
        throw error;
      });
      const previous = known.get(team);
      if (previous?.token === token) return previous;
      const workspace = createWorkspace(token, options, team, previous);
      known.set(team, workspace);
      return workspace;
    },
  };
}

/** The workspaces of one token: a single one, or all of an organisation. */
export function workspacesOfToken(token: string, options: ConnectionOptions) {
  const main = createWorkspace(token, options, undefined);
  const known = new Map<string, Workspace>();
  return {
    async of(team: string | undefined): Promise<Workspace> {
      if (team === undefined || !main.identity.isForOrganisation()) return main;
      const workspace = known.get(team) ?? createWorkspace(token, options, team);
      known.set(team, workspace);
      return workspace;
    },
    /** Checks the token. Returns a message if Slack rejects it, and undefined otherwise or if Slack is unreachable. */
    async tokenProblem(): Promise<string | undefined> {
      try {
        await main.identity.ask();
      } catch (error) {
        if (isTokenError(error)) return rejectedToken('SLACK_BOT_TOKEN', error);
        options.log.warn({ err: error }, 'Could not reach Slack; retrying');
      }
      return undefined;
    },
  } satisfies Workspaces & { tokenProblem(): Promise<string | undefined> };
}
