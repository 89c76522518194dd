import type { Log } from '../../../core/telemetry/log.ts';
import { PlatformError } from '../../platform.ts';
import { toPlatformError } from '../errors.ts';
import type { createManifest } from '../manifest.ts';
import { createWebClient, sdkLogger } from './client.ts';

const TIMEOUT_MS = 20_000;

/**
 * Creates an app from a manifest and returns its id: https://docs.slack.dev/reference/methods/apps.manifest.create.
 * @param token an app configuration token. Throws PlatformError.
 */
export async function createSlackApp(
  token: string,
  manifest: ReturnType<typeof createManifest>,
  { apiUrl, log }: { readonly apiUrl: string | undefined; readonly log: Log },
): Promise<string> {
  const web = createWebClient(token, { apiUrl, timeoutMs: TIMEOUT_MS, logger: sdkLogger(log) });
  const created = await web.apps.manifest.create({ manifest }).catch((error: unknown) => {
    throw toPlatformError(error, { botName: () => 'minstrel' });
  });
  if (created.app_id === undefined) throw new PlatformError('unavailable', 'Slack returned no app ID');
  return created.app_id;
}
