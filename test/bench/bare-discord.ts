/** The least that takes a command on Discord: discord.js, one command, and a deferred reply to it. */
import { Client, Events, GatewayIntentBits, REST } from 'discord.js';
import { z } from 'zod';
import { programInput, tell } from './program.ts';

const { token, apiUrl } = programInput(z.object({ token: z.string(), apiUrl: z.url() }));
const rest = { api: apiUrl, version: '10' } as const;
const client = new Client({ intents: [GatewayIntentBits.Guilds], rest });
client.on(Events.InteractionCreate, async (interaction) => {
  if (interaction.isChatInputCommand()) await interaction.deferReply();
});
client.once(Events.ClientReady, async ({ application }) => {
  const option = { type: 3, name: 'prompt', description: 'What about', required: true };
  await new REST(rest).setToken(token).put(`/applications/${application.id}/commands`, {
    body: [
      { type: 1, name: 'song', description: 'A song', options: [option] },
      { type: 1, name: 'jobs', description: 'What runs' },
    ],
  });
  tell('ready');
});
await client.login(token);
