/** The workspaces that the bot works in, each with its token and all that is counted for it alone. */
import type { webApi } from '@slack/bolt';
import type { Log } from '../../command.ts';
import { PlatformError } from '../platform.ts';
import { createIdentity, type IdentityReader } from './identity.ts';
import { createPace, type Pace } from './pace.ts';
import { createPersons, type Persons } from './persons.ts';

export interface Workspace {
  readonly token: string;
  readonly web: webApi.WebClient;
  readonly identity: IdentityReader;
  readonly persons: Persons;
  /** One budget for every edit and every stream in it. */
  readonly pace: Pace;
  /** As people type it after the @. */
  readonly botName: () => string;
}

export interface Workspaces {
  /** Throws PlatformError when the app is not installed there (any more). */
  of(team: string | undefined): Promise<Workspace>;
}

export interface WorkspaceOptions {
  readonly createWeb: (token: string) => webApi.WebClient;
  readonly editGapMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
}

export function createWorkspace(token: string, options: WorkspaceOptions, pace?: Pace): Workspace {
  const { createWeb, editGapMs, now, sleep, log } = options;
  const web = createWeb(token);
  const identity = createIdentity(web);
  return {
    token,
    web,
    identity,
    persons: createPersons({ web, now, log }),
    pace: pace ?? createPace({ gapMs: editGapMs, now, sleep }),
    botName: () => identity.known()?.name ?? 'minstrel',
  };
}

/** The workspace that an operator's token is for. */
export function oneWorkspace(workspace: Workspace): Workspaces {
  return { of: async () => workspace };
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
      const workspace = createWorkspace(token, options, before?.pace);
      known.set(team, workspace);
      return workspace;
    },
  };
}
