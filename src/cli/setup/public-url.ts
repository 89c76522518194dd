/** Asks how services reach this machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as prompts from '@clack/prompts';
import { answerTo, askSetting, type SetupSession, settingOf, streamsOf } from './session.ts';

/** Commands that give a local port a public URL. */
const TUNNELS: Readonly<Record<string, (port: string) => string>> = {
  // https://developers.cloudflare.com/cloudflare-one/networks/connectors/cloudflare-tunnel/do-more-with-tunnels/trycloudflare/
  cloudflared: (port) => `cloudflared tunnel --url http://127.0.0.1:${port}`,
  // https://ngrok.com/docs/agent/cli
  ngrok: (port) => `ngrok http ${port}`,
  // https://tailscale.com/kb/1223/funnel
  tailscale: (port) => `tailscale funnel ${port}`,
};

export async function askPublicUrl(session: SetupSession): Promise<void> {
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
          hint: 'images, answers and videos from text work without a public URL',
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
