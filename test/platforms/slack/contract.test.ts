import { createHash } from 'node:crypto';
import { describePlatform } from '../../contracts/platform.ts';
import { pings, readableText } from '../../servers/slack/mentions.ts';
import type { EphemeralMessage, PostedMessage } from '../../servers/slack/workspace.ts';
import { ADDRESS, FILES, startHarness } from './harness.ts';

const contentOf = (message: PostedMessage | EphemeralMessage) => ({
  text: readableText(message),
  files: 'files' in message ? message.files.map(({ name, bytes }) => ({ name, bytes })) : [],
});

describePlatform('Slack', async () => {
  const harness = await startHarness({ shareDelayMs: 0 });
  const { server, slack } = harness;
  const replicas: { close(): Promise<void> }[] = [];
  return {
    platform: slack,
    address: ADDRESS,
    goneAddress: { ...ADDRESS, channel: 'C0GONE' },
    keep: async (bytes, contentType) => {
      const name = createHash('sha256').update(bytes).digest('hex');
      FILES.set(name, Buffer.from(bytes));
      return { name, bytes: bytes.length, contentType };
    },
    messages: async () => server.botMessages().map(contentOf),
    privateMessages: async () => [
      ...server.ephemeralsOf(ADDRESS.person).map(contentOf),
      ...server.botMessages(server.workspace.directChannel(ADDRESS.person).id).map(contentOf),
    ],
    pinged: async () => server.botMessages().flatMap(pings),
    restart: async () => {
      const replica = harness.createReplica();
      replicas.push(replica);
      return replica;
    },
    close: async () => {
      for (const platform of replicas) await platform.close();
      await harness.stop();
    },
  };
});
