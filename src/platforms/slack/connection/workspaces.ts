/** The workspaces that the bot works in, each with its token, its rate of edits and the people known there. */
import { z } from 'zod';
import { PlatformError } from '../../platform.ts';
import { AGENT_SCOPE } from '../manifest.ts';
import { createAgentSessions } from './agent-sessions.ts';
import { createWebClient } from './client.ts';
import type { ConnectionOptions } from './connection.ts';
import { createPersons } from './people.ts';
import { createRates, type Rates } from './rates.ts';

const identitySchema = z
  .object({
    user_id: z.string(),
    bot_id: z.string(),
    team_id: z.string(),
    /** As people type it after the @. */
    user: z.string(),
    /** The workspace's own address, under which its messages are found. */
    url: z.url().optional().catch(undefined),
    /** What the SDK reads from the head of the answer. */
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
  }));

/** Who the bot is in a workspace. */
export type Identity = z.infer<typeof identitySchema>;

export type Workspace = ReturnType<typeof createWorkspace>;

export interface Workspaces {
  /** Throws PlatformError when the app is not installed there (any more). */
  of(team: string | undefined): Promise<Workspace>;
}

export interface WorkspaceOptions extends ConnectionOptions {
  readonly editGapMs: number;
}

export function createWorkspace(
  token: string,
  options: WorkspaceOptions,
  rates: Rates = createRates(options.editGapMs, options.elapsed, options.sleep),
) {
  const web = createWebClient(token, options.client);
  let known: Identity | undefined;
  let reading: Promise<Identity> | undefined;

  async function read(): Promise<Identity> {
    const { data, error } = identitySchema.safeParse(await web.auth.test());
    if (error !== undefined)
      throw new PlatformError('unavailable', 'Slack did not say who the bot is', { cause: error });
    known = data;
    return data;
  }

  const identity = {
    /** Asks Slack once, and again while Slack is away. Throws the SDK's errors, and PlatformError. */
    async read(): Promise<Identity> {
      if (known !== undefined) return known;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    /**
     * The workspace that the app acts in: on Slack Connect, an event may name that of the person. It never waits, and is
     * the event's own until Slack was asked.
     */
    teamOr: (inEvent: string): string => known?.team ?? inEvent,
  };

  return {
    token,
    web,
    identity,
    persons: createPersons(web, identity, options),
    rates,
    agents: createAgentSessions(web, () => known?.scopes.includes(AGENT_SCOPE) === true, options),
    /** As people type it after the @. */
    botName: () => known?.name ?? 'minstrel',
  };
}

/** The token of a workspace, asked for every time, so that every replica sees what another one changed. */
export interface TokenSource {
  tokenOf(team: string): Promise<string | undefined>;
}

/** Workspaces that installed the app by themselves. */
export function installedWorkspaces(source: TokenSource, options: WorkspaceOptions): Workspaces {
  const known = new Map<string, Workspace>();
  return {
    async of(team) {
      const token = team === undefined ? undefined : await source.tokenOf(team);
      if (team === undefined || token === undefined) {
        if (team !== undefined) known.delete(team);
        throw new PlatformError('gone', 'The app is not installed in this workspace');
      }
      const before = known.get(team);
      if (before?.token === token) return before;
      const workspace = createWorkspace(token, options, before?.rates);
      known.set(team, workspace);
      return workspace;
    },
  };
}
