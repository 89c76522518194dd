/** The workspaces that installed the app, with their tokens, sealed. */
import type { Installation, InstallationStore } from '@slack/bolt';
import { z } from 'zod';
import { PlatformError } from '../../../platform.ts';
import type { ConnectionOptions } from '../connection.ts';
import type { Seal } from './seal.ts';

/** The part of the settings that installations need. */
export interface InstallationSettings {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Writes what `change` makes of the newest value. */
  update(key: string, change: (value: unknown) => unknown): Promise<unknown>;
}

const workspaceSchema = z.object({
  /** Of the workspace, or of the organisation that installed the app for all of its workspaces. */
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

const SEALED_RETRY_MS = 60_000;

const storedSchema = z.object({ sealed: z.string() });
const membershipSchema = z.object({ organisation: z.string() });

export type Installations = ReturnType<typeof createInstallations>;

export interface InstallationOptions extends Pick<ConnectionOptions, 'now' | 'log'> {
  readonly settings: InstallationSettings;
  readonly seal: Seal;
}

export function createInstallations({ settings, seal, now, log }: InstallationOptions) {
  const read = (value: unknown, team: string): InstalledWorkspace | 'sealed' | undefined => {
    const stored = storedSchema.safeParse(value);
    if (!stored.success) return undefined;
    const opened = seal.open(stored.data.sealed, team);
    return opened === undefined ? 'sealed' : workspaceSchema.parse(JSON.parse(opened));
  };
  /** Throws PlatformError when only an operator can open what is stored: the workspace is still there. */
  const find = async (team: string): Promise<InstalledWorkspace | undefined> => {
    const found = read(await settings.get(keyOf(team)), team);
    if (found !== 'sealed') return found;
    const detail = 'A workspace’s token was sealed with another SLACK_CLIENT_SECRET';
    log.error({ team }, detail);
    throw new PlatformError('unavailable', detail, { retryAfterMs: SEALED_RETRY_MS });
  };
  const sealed = (workspace: InstalledWorkspace) => ({
    sealed: seal.close(JSON.stringify(workspace), workspace.team),
  });
  const keep = (workspace: InstalledWorkspace): Promise<void> =>
    settings.set(keyOf(workspace.team), sealed(workspace));
  /** For the SDK's install pages. */
  const store: InstallationStore = {
    storeInstallation: (installation) => keep(workspaceOf(installation, now())),
    async fetchInstallation() {
      // The SDK asks only when it rotates tokens, which createTokenSource does behind a lock.
      throw new PlatformError('refused', 'Tokens are read by Installations.find');
    },
  };
  return {
    find,
    store,

    /** The organisation by whose installation the app works in a workspace; undefined where none is known. */
    async organisationOf(team: string): Promise<string | undefined> {
      return membershipSchema.safeParse(await settings.get(membershipKeyOf(team))).data?.organisation;
    },

    /** A job that ends later knows its workspace alone. */
    async joinOrganisation(team: string, organisation: string): Promise<void> {
      await settings.set(membershipKeyOf(team), { organisation });
    },

    /** Keeps a workspace with its next token, unless the app was removed or installed anew since. */
    async rotate(before: InstalledWorkspace, next: InstalledWorkspace): Promise<void> {
      const { team, token } = before;
      await settings.update(keyOf(team), (value) => {
        const now = read(value, team);
        return now !== undefined && now !== 'sealed' && now.token === token ? sealed(next) : value;
      });
    },

    /** Forgets a workspace that was installed before `before`, in milliseconds. False when it was installed later. */
    async forget(team: string, before: number): Promise<boolean> {
      const workspace = read(await settings.get(keyOf(team)), team);
      if (workspace !== undefined && workspace !== 'sealed' && workspace.installedAt >= before) return false;
      await settings.delete(keyOf(team));
      return true;
    },
  };
}

function keyOf(team: string): string {
  return `slack:installation:${team}`;
}

function membershipKeyOf(team: string): string {
  return `slack:organisation:${team}`;
}

/** Throws PlatformError for an installation without a bot. */
function workspaceOf(
  { team, enterprise, isEnterpriseInstall, bot }: Installation<'v1' | 'v2', boolean>,
  now: number,
): InstalledWorkspace {
  const place = isEnterpriseInstall ? enterprise : team;
  if (place === undefined || bot === undefined)
    throw new PlatformError('refused', 'The app was not installed with its bot');
  return {
    team: place.id,
    ...(place.name === undefined ? {} : { name: place.name }),
    botUser: bot.userId,
    token: bot.token,
    scopes: bot.scopes,
    ...(bot.refreshToken === undefined ? {} : { refreshToken: bot.refreshToken }),
    ...(bot.expiresAt === undefined ? {} : { expiresAt: bot.expiresAt * 1000 }),
    installedAt: now,
  };
}
