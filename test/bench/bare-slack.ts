/** The least that takes a command on Slack: Bolt, in Socket Mode or by HTTP, and an acknowledgement to all who send one. */
import { App } from '@slack/bolt';
import { z } from 'zod';
import { programInput, tell } from './program.ts';

const { port, token, apiUrl, way } = programInput(
  z.object({
    port: z.int(),
    token: z.string(),
    apiUrl: z.url(),
    way: z.union([z.object({ appToken: z.string() }), z.object({ signingSecret: z.string() })]),
  }),
);
const app = new App({
  token,
  ...way,
  socketMode: 'appToken' in way,
  clientOptions: { slackApiUrl: apiUrl },
});
app.command(/.*/, async ({ ack }) => ack());
await app.start(port);
tell('ready');
