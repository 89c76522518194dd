/** Asks for the gateway, its models, and how it reaches this machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as prompts from '@clack/prompts';
import type { Variable } from '../../app/config/schema.ts';
import { lineOf } from '../../app/doctor/examine.ts';
import { gatewayRefusal } from '../../app/doctor/gateway.ts';
import { openGateway, unmeasured } from '../../app/services.ts';
import type { Model, ModelUse } from '../../gateway/models/listing.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { answerTo, askSetting, type SetupSession, settingOf, streamsOf, withoutEcho } from './session.ts';

export async function askGateway(session: SetupSession): Promise<void> {
  const { current, changes } = session;
  const isNew = Object.keys(current).length === 0;
  const gateway = await answerTo(
    prompts.select({
      message: 'Which gateway should create songs, images, videos and answers?',
      options: [
        { value: 'account', label: 'My gateway', hint: 'you have its URL and an API key' },
        {
          value: 'emulator',
          label: 'Built-in emulator',
          hint: 'to try everything without an account or cost',
        },
      ],
      initialValue: current.GATEWAY_BASE_URL || !isNew ? 'account' : 'emulator',
      ...streamsOf(session),
    }),
  );
  if (gateway === 'emulator') {
    changes.set('GATEWAY_BASE_URL', '').set('GATEWAY_API_KEY', '');
    return;
  }
  await askSetting(session, 'GATEWAY_BASE_URL', 'Gateway URL');
  await askSetting(session, 'GATEWAY_API_KEY', 'Gateway API key', { isSecret: true });
  await askPublicUrl(session);
  const models = await withoutEcho(session, listModelsOf(session));
  await askModel(session, models, { variable: 'ASK_MODEL', use: 'answers', message: 'Model for answers' });
  await askModel(session, models, { variable: 'IMAGE_MODEL', use: 'pictures', message: 'Model for images' });
  await askModel(session, models, { variable: 'VIDEO_MODEL', use: 'videos', message: 'Model for videos' });
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
      message: 'The gateway sends songs to this machine. How can it be reached?',
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

/** Empty, with a warning, if the gateway does not list its models. */
async function listModelsOf(session: SetupSession): Promise<readonly Model[]> {
  const baseUrl = settingOf(session, 'GATEWAY_BASE_URL').replace(/(?<!\/)\/+$/, '');
  const account = { baseUrl, apiKey: settingOf(session, 'GATEWAY_API_KEY') };
  const gateway = openGateway(account, { ...session.examination, measure: unmeasured });
  try {
    return await gateway.models.refresh();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    prompts.log.warn(lineOf(gatewayRefusal(error, baseUrl)), { output: session.output });
    return [];
  } finally {
    await gateway.close();
  }
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
