/** A minimal bot on both chats: discord.js and Bolt, connected. */
import { App } from '@slack/bolt';
import { Client, Events, GatewayIntentBits } from 'discord.js';

const { DISCORD_TOKEN = '', DISCORD_API_URL = '', SLACK_BOT_TOKEN = '' } = process.env;
const { SLACK_APP_TOKEN = '', SLACK_API_URL = '' } = process.env;
const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages],
  rest: { api: DISCORD_API_URL },
});
const app = new App({
  token: SLACK_BOT_TOKEN,
  appToken: SLACK_APP_TOKEN,
  socketMode: true,
  clientOptions: { slackApiUrl: SLACK_API_URL },
});
const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
await Promise.all([client.login(DISCORD_TOKEN), ready, app.start()]);
process.once('SIGTERM', () => process.exit());
process.stderr.write('Ready\n');
