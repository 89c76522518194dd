/** Which workspaces installed the app, with their tokens, sealed. */
import type { Installation, InstallationStore } from '@slack/bolt';
import { z } from 'zod';
import type { Log } from '../../../command.ts';
import { PlatformError } from '../../platform.ts';
import type { Seal } from './seal.ts';

/** The part of the settings that installations need. */
export interface InstallationSettings {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
}

const workspaceSchema = z.object({
  team: z.string(),
  name: z.string().optional(),
  botUser: z.string(),
  token: z.string(),
  scopes: z.array(z.string()),
  /** Only where the app rotates its tokens. */
  refreshToken: z.string().optional(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number().optional(),
  installedAt: z.number(),
});
export type InstalledWorkspace = z.infer<typeof workspaceSchema>;

const storedSchema = z.object({ sealed: z.string() });

export interface Installations {
  find(team: string): Promise<InstalledWorkspace | undefined>;
  keep(workspace: InstalledWorkspace): Promise<void>;
  /** Forgets a workspace that was installed before `before`, in milliseconds: the news may come late. */
  forget(team: string, before: number): Promise<boolean>;
  /** As the SDK's install pages want it. */
  readonly store: InstallationStore;
}

export interface InstallationOptions {
  readonly settings: InstallationSettings;
  readonly seal: Seal;
  readonly now: () => number;
  readonly log: Log;
}

export function createInstallations({ settings, seal, now, log }: InstallationOptions): Installations {
  const find = async (team: string): Promise<InstalledWorkspace | undefined> => {
    const stored = storedSchema.safeParse(await settings.get(keyOf(team)));
    if (!stored.success) return undefined;
    const opened = seal.open(stored.data.sealed, team);
    if (opened === undefined) {
      log.error({ team }, 'A workspace’s token was sealed with another SLACK_CLIENT_SECRET');
      return undefined;
    }
    return workspaceSchema.parse(JSON.parse(opened));
  };
  const keep = (workspace: InstalledWorkspace): Promise<void> =>
    settings.set(keyOf(workspace.team), {
      sealed: seal.close(JSON.stringify(workspace), workspace.team),
    });
  const teamOf = ({ teamId }: { teamId: string | undefined }): string => {
    if (teamId === undefined) throw new PlatformError('gone', 'Only single workspaces install the app');
    return teamId;
  };
  return {
    find,
    keep,

    async forget(team, before) {
      const workspace = await find(team);
      if (workspace !== undefined && workspace.installedAt >= before) return false;
      await settings.delete(keyOf(team));
      return true;
    },

    store: {
      storeInstallation: (installation) => keep(workspaceOf(installation, now())),
      async fetchInstallation() {
        // The SDK asks only when it rotates tokens, which is done here behind a lock instead.
        throw new PlatformError('refused', 'Tokens are read by Installations.find');
      },
      deleteInstallation: (query) => settings.delete(keyOf(teamOf(query))),
    },
  };
}

function keyOf(team: string): string {
  return `slack:installation:${team}`;
}

/** Throws PlatformError for what is no installation in one workspace with a bot. */
function workspaceOf({ team, bot }: Installation, now: number): InstalledWorkspace {
  if (team === undefined || bot === undefined)
    throw new PlatformError('refused', 'The app was not installed in one workspace with its bot');
  return {
    team: team.id,
    ...(team.name === undefined ? {} : { name: team.name }),
    botUser: bot.userId,
    token: bot.token,
    scopes: bot.scopes,
    ...(bot.refreshToken === undefined ? {} : { refreshToken: bot.refreshToken }),
    ...(bot.expiresAt === undefined ? {} : { expiresAt: bot.expiresAt * 1000 }),
    installedAt: now,
  };
}
