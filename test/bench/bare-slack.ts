/** The least that takes a command on Slack: Bolt, in Socket Mode or by HTTP, and an acknowledgement to all who send one. */
import { App } from '@slack/bolt';
import { z } from 'zod';
import { programInput, tell } from './program.ts';

const { port, token, apiUrl, ...way } = programInput(
  z.object({
    port: z.int(),
    token: z.string(),
    apiUrl: z.url(),
    appToken: z.string().optional(),
    signingSecret: z.string().optional(),
  }),
);
const app = new App({
  token,
  ...way,
  socketMode: way.appToken !== undefined,
  clientOptions: { slackApiUrl: apiUrl },
});
app.command(/.*/, ({ ack }) => ack());
await app.start(port);
tell('ready');
