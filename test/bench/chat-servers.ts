/** Both chats, strict and local, and a gateway without models: tells where they are and what opens them. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startDiscord } from '../servers/discord/index.ts';
import { startSlackServer } from '../servers/slack/server.ts';
import { tell } from './program.ts';

const discord = await startDiscord();
const slack = await startSlackServer();
const gateway = createServer((_request, response) => response.end('{"data":[]}'));
await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
// Sound: it listens at a port.
const { port } = gateway.address() as AddressInfo;
tell({
  gatewayUrl: `http://127.0.0.1:${port}`,
  discord: { token: discord.token, apiUrl: discord.apiUrl },
  slack: { botToken: slack.botToken, appToken: slack.appToken, apiUrl: slack.apiUrl },
});
