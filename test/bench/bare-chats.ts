/** The limit of P6: discord.js and Bolt imported and connected, and nothing else. */
import { App } from '@slack/bolt';
import { Client, Events, GatewayIntentBits } from 'discord.js';
import { z } from 'zod';
import { programInput, tell } from './program.ts';

const chat = z.object({ apiUrl: z.string() });
const { discord, slack } = programInput(
  z.object({
    discord: chat.extend({ token: z.string() }),
    slack: chat.extend({ botToken: z.string(), appToken: z.string() }),
  }),
);

const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages],
  rest: { api: discord.apiUrl },
});
const app = new App({
  token: slack.botToken,
  appToken: slack.appToken,
  socketMode: true,
  clientOptions: { slackApiUrl: slack.apiUrl },
});
const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
await Promise.all([client.login(discord.token), ready, app.start()]);
tell('ready');
