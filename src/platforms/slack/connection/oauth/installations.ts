/** The workspaces and organisations that installed the app, each under its id, with its token sealed. */
import type { Installation, InstallationStore } from '@slack/bolt';
import { z } from 'zod';
import type { System } from '../../../../core/system.ts';
import { PlatformError } from '../../../platform.ts';
import { createSeal } from './seal.ts';

/** The part of the settings that installations need. */
export interface InstallationSettings {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
}

export interface InstallationOptions extends Pick<System, 'now' | 'log'> {
  readonly settings: InstallationSettings;
  /** The first seals; all of them open. */
  readonly clientSecrets: readonly string[];
}

export interface Installations extends InstallationStore {
  /** Forgets what was installed before `before`, in milliseconds. False when it was installed later. */
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

    /** Throws PlatformError: `unavailable` where only an operator can open what is stored. */
    async fetchInstallation({ teamId, enterpriseId, isEnterpriseInstall }) {
      const id = (isEnterpriseInstall ? enterpriseId : teamId) ?? '';
      const { data } = storedSchema.safeParse(await settings.get(keyOf(id)));
      if (data === undefined) throw new PlatformError('gone', 'The app is not installed in this workspace');
      const opened = seal.open(data.sealed, id);
      // Sound: the seal proves that storeInstallation wrote it.
      if (opened !== undefined) return JSON.parse(opened) as Installation;
      const detail = 'Could not decrypt a workspace’s token: SLACK_CLIENT_SECRET changed';
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

/** Throws PlatformError for an installation that has none. */
function idOf({ team, enterprise, isEnterpriseInstall }: Installation<'v1' | 'v2', boolean>): string {
  const place = isEnterpriseInstall ? enterprise : team;
  if (place === undefined) throw new PlatformError('refused', 'The installation names no workspace');
  return place.id;
}

const keyOf = (id: string): string => `slack:installation:${id}`;
