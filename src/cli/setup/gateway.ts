/** Asks for the gateway or the operator's own keys, for models, and how services reach this machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as prompts from '@clack/prompts';
import { OWN_SETTINGS } from '../../app/config/accounts.ts';
import type { Variable } from '../../app/config/schema.ts';
import { GATEWAY_NAMES } from '../../app/doctor/gateway.ts';
import type { ModelUse } from '../../gateway/models/hints.ts';
import type { Model } from '../../gateway/models/listing.ts';
import { type Accounts, gatewayAccounts } from '../../gateway/routes.ts';
import { askOwnKeys } from './keys.ts';
import { answerTo, askSetting, type SetupSession, settingOf, streamsOf } from './session.ts';
import { tryService } from './try-service.ts';

const GATEWAY: readonly Variable[] = ['GATEWAY_BASE_URL', 'GATEWAY_API_KEY'];
const OWN: readonly Variable[] = Object.values(OWN_SETTINGS).flatMap(({ baseUrl, apiKey }) => [
  baseUrl,
  apiKey,
]);

export async function askGateway(session: SetupSession): Promise<void> {
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
  if (way !== 'gateway') clear(session, GATEWAY);
  if (way !== 'own') clear(session, OWN);
  if (way === 'own') await askOwnKeys(session, { askPublicUrl, askModels });
  if (way !== 'gateway') return;
  await askSetting(session, 'GATEWAY_BASE_URL', 'Gateway URL');
  await askSetting(session, 'GATEWAY_API_KEY', 'Gateway API key', { isSecret: true });
  await askPublicUrl(session);
  const baseUrl = settingOf(session, 'GATEWAY_BASE_URL').replace(/(?<!\/)\/+$/, '');
  const accounts = gatewayAccounts({ baseUrl, apiKey: settingOf(session, 'GATEWAY_API_KEY') });
  await askModels(session, accounts, { answers: true, pictures: true, videos: true });
}

function clear({ current, changes }: SetupSession, variables: readonly Variable[]): void {
  for (const variable of variables) if (current[variable]) changes.set(variable, '');
}

/** Commands that give a local port a public URL. */
const TUNNELS: Readonly<Record<string, (port: string) => string>> = {
  // https://developers.cloudflare.com/cloudflare-one/networks/connectors/cloudflare-tunnel/do-more-with-tunnels/trycloudflare/
  cloudflared: (port) => `cloudflared tunnel --url http://127.0.0.1:${port}`,
  // https://ngrok.com/docs/agent/cli
  ngrok: (port) => `ngrok http ${port}`,
  // https://tailscale.com/kb/1223/funnel
  tailscale: (port) => `tailscale funnel ${port}`,
};

async function askPublicUrl(session: SetupSession): Promise<void> {
  const { changes, output } = session;
  const tunnels = Object.keys(TUNNELS).filter((tool) => isInstalled(tool, session));
  const way = await answerTo(
    prompts.select({
      message:
        'The song service sends finished songs to this machine over the internet. At which address can it reach this machine?',
      options: [
        { value: 'url', label: 'At a public URL' },
        ...tunnels.map((tool) => ({ value: tool, label: `Through a ${tool} tunnel` })),
        {
          value: 'skip',
          label: 'Skip songs for now',
          hint: 'images, videos and answers work without a public URL',
        },
      ],
      ...streamsOf(session),
    }),
  );
  if (way === 'skip') {
    changes.set('PUBLIC_URL', '');
    return;
  }
  const command = TUNNELS[way]?.(settingOf(session, 'PORT') || '3000');
  if (command) prompts.note(command, 'Run this in another terminal, and keep it running', { output });
  await askSetting(session, 'PUBLIC_URL', command ? 'The URL that it prints' : 'Public URL of this machine');
}

function isInstalled(tool: string, { environment }: SetupSession): boolean {
  const files = (environment.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => [join(folder, tool), join(folder, `${tool}.exe`)]);
  return files.some((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const QUESTIONS = [
  { variable: 'ASK_MODEL', use: 'answers', message: 'Model for answers' },
  { variable: 'IMAGE_MODEL', use: 'pictures', message: 'Model for images' },
  { variable: 'VIDEO_MODEL', use: 'videos', message: 'Model for videos' },
] as const satisfies readonly { variable: Variable; use: ModelUse; message: string }[];

/** Asks for the default model of each use, from the services' lists. */
async function askModels(
  session: SetupSession,
  accounts: Accounts,
  uses: Readonly<Record<ModelUse, boolean>>,
): Promise<void> {
  const shared = Object.values(accounts).find(({ service }) => service === 'gateway');
  const place = { names: GATEWAY_NAMES, at: shared?.baseUrl ?? '' };
  const models = (await tryService(session, accounts, place, (gateway) => gateway.models.refresh())) ?? [];
  for (const question of QUESTIONS) if (uses[question.use]) await askModel(session, models, question);
}

const MODELS_SHOWN = 10;

/** Offers the listed models that can do this. Without a list, the model can be typed. */
async function askModel(
  session: SetupSession,
  models: readonly Model[],
  question: { readonly variable: Variable; readonly use: ModelUse; readonly message: string },
): Promise<void> {
  const { variable, use, message } = question;
  const suitable = models.filter(({ uses }) => uses === undefined || uses.includes(use));
  if (suitable.length === 0)
    return await askSetting(session, variable, `${message} (leave empty to let moderators choose)`, {
      isOptional: true,
    });
  const present = session.current[variable] ?? '';
  const options = suitable.map(({ id, displayName, uses }) => ({
    // The route of a model that also writes has to be named.
    value: use === 'pictures' && uses?.includes('answers') ? `gen:${id}` : id,
    label: id,
    ...(displayName !== undefined && { hint: displayName }),
  }));
  const choice = await answerTo(
    prompts.autocomplete({
      message: `${message} (type to search)`,
      options: [
        ...(present === '' ? [] : [{ value: present, label: present, hint: 'the current one' }]),
        { value: '', label: 'Let moderators choose', hint: 'with /models' },
        ...options.filter(({ value }) => value !== present),
      ],
      maxItems: MODELS_SHOWN,
      ...streamsOf(session),
    }),
  );
  session.changes.set(variable, choice);
}
