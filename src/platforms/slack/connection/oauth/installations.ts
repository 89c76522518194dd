/** Stores the installations of workspaces and organisations by ID, with encrypted tokens. */
import type { Installation, InstallationStore } from '@slack/bolt';
import { z } from 'zod';
import type { System } from '../../../../core/system.ts';
import { PlatformError } from '../../../platform.ts';
import { createSeal } from './seal.ts';

/** The settings methods that installations use. */
export interface InstallationSettings {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
}

export interface InstallationOptions extends Pick<System, 'now' | 'log'> {
  readonly settings: InstallationSettings;
  /** The first encrypts. All can decrypt. */
  readonly clientSecrets: readonly string[];
}

export interface Installations extends InstallationStore {
  /** Deletes an installation older than `before`, in milliseconds. Resolves to false if it is newer. */
  forget(id: string, before: number): Promise<boolean>;
}

const storedSchema = z.object({ sealed: z.string(), installedAt: z.number() });

const SEALED_RETRY_MS = 60_000;

export function createInstallations({
  settings,
  clientSecrets,
  now,
  log,
}: InstallationOptions): Installations {
  const seal = createSeal(clientSecrets);
  return {
    async storeInstallation(installation) {
      const id = idOf(installation);
      const sealed = seal.close(JSON.stringify(installation), id);
      await settings.set(keyOf(id), { sealed, installedAt: now() });
    },

    /** Throws PlatformError: `unavailable` if the token cannot be decrypted until the operator restores the secret. */
    async fetchInstallation({ teamId, enterpriseId, isEnterpriseInstall }) {
      const id = (isEnterpriseInstall ? enterpriseId : teamId) ?? '';
      const { data } = storedSchema.safeParse(await settings.get(keyOf(id)));
      if (data === undefined) throw new PlatformError('gone', 'The app is not installed in this workspace');
      const decrypted = seal.open(data.sealed, id);
      // Safe cast: decryption proves that storeInstallation wrote it.
      if (decrypted !== undefined) return JSON.parse(decrypted) as Installation;
      const detail = "Could not decrypt a workspace's token: SLACK_CLIENT_SECRET changed";
      log.error({ team: id }, detail);
      throw new PlatformError('unavailable', detail, { retryAfterMs: SEALED_RETRY_MS });
    },

    async forget(id, before) {
      const { data } = storedSchema.safeParse(await settings.get(keyOf(id)));
      if (data !== undefined && data.installedAt >= before) return false;
      await settings.delete(keyOf(id));
      return true;
    },
  };
}

/** Throws PlatformError if the installation names no workspace or organisation. */
function idOf({ team, enterprise, isEnterpriseInstall }: Installation<'v1' | 'v2', boolean>): string {
  const installedIn = isEnterpriseInstall ? enterprise : team;
  if (installedIn === undefined) throw new PlatformError('refused', 'The installation has no workspace');
  return installedIn.id;
}

const keyOf = (id: string): string => `slack:installation:${id}`;
