/** Asks for the gateway or the operator's own keys. */
import * as prompts from '@clack/prompts';
import { OWN_SETTINGS } from '../../app/config/accounts.ts';
import type { Variable } from '../../app/config/schema.ts';
import { GATEWAY_NAMES } from '../../app/doctor/services.ts';
import { gatewayAccounts } from '../../gateway/routes.ts';
import { askOwnKeys } from './keys.ts';
import { askModels } from './models.ts';
import { askPublicUrl } from './public-url.ts';
import { answerTo, askSetting, clearSettings, type SetupSession, settingOf, streamsOf } from './session.ts';
import { tryService } from './try-service.ts';

const GATEWAY: readonly Variable[] = ['GATEWAY_BASE_URL', 'GATEWAY_API_KEY'];
const OWN: readonly Variable[] = Object.values(OWN_SETTINGS).flatMap((settings) => Object.values(settings));

export async function askServices(session: SetupSession): Promise<void> {
  const { current } = session;
  const isNew = Object.keys(current).length === 0;
  const hasOwn = OWN.some((variable) => current[variable]);
  const way = await answerTo(
    prompts.select({
      message: 'One gateway key for everything, or your own keys?',
      options: [
        { value: 'gateway', label: 'One gateway key', hint: 'you have its URL and an API key' },
        {
          value: 'own',
          label: 'My own keys',
          hint: 'OpenAI, Ollama, Anthropic, Google, DashScope or sunoapi.org; one is enough',
        },
        {
          value: 'emulator',
          label: 'Built-in emulator',
          hint: 'to try everything without an account or cost',
        },
      ],
      initialValue: hasOwn ? 'own' : current.GATEWAY_BASE_URL || !isNew ? 'gateway' : 'emulator',
      ...streamsOf(session),
    }),
  );
  if (way !== 'gateway') clearSettings(session, GATEWAY);
  if (way !== 'own') clearSettings(session, OWN);
  if (way === 'own') await askOwnKeys(session);
  if (way !== 'gateway') return;
  await askSetting(session, 'GATEWAY_BASE_URL', 'Gateway URL');
  await askSetting(session, 'GATEWAY_API_KEY', 'Gateway API key', { isSecret: true });
  await askPublicUrl(session);
  const baseUrl = settingOf(session, 'GATEWAY_BASE_URL').replace(/(?<!\/)\/+$/, '');
  const accounts = gatewayAccounts({ baseUrl, apiKey: settingOf(session, 'GATEWAY_API_KEY') });
  const place = { names: GATEWAY_NAMES, at: baseUrl };
  const models = await tryService(session, accounts, place, (gateway) => gateway.models.refresh());
  await askModels(session, models ?? [], { answers: true, pictures: true, videos: true });
}
