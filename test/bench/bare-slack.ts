/**
 * The least that takes a command on Slack: Bolt, in Socket Mode or by HTTP, and an acknowledgement to all who send one. With a
 * folder, each command is stored there before.
 */
import { App } from '@slack/bolt';
import { z } from 'zod';
import { createDurableRecords } from './durable-records.ts';
import { programInput, tell } from './program.ts';

const { port, token, apiUrl, way, folder } = programInput(
  z.object({
    port: z.int(),
    token: z.string(),
    apiUrl: z.url(),
    way: z.union([z.object({ appToken: z.string() }), z.object({ signingSecret: z.string() })]),
    folder: z.string().optional(),
  }),
);
const app = new App({
  token,
  ...way,
  socketMode: 'appToken' in way,
  clientOptions: { slackApiUrl: apiUrl },
});
const store = folder === undefined ? undefined : createDurableRecords(folder);
app.command(/.*/, async ({ ack, body }) => {
  await store?.(body);
  await ack();
});
await app.start(port);
tell('ready');
