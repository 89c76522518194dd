/** Plays to many voice channels at once, and tells what share of a core that takes. */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createDiscord } from '../../src/platforms/discord/adapter.ts';
import { alone, FakeBot } from '../platforms/discord/harness.ts';
import { trustLocalVoice } from '../servers/voice/certificate.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { cpuSeconds } from './measure.ts';
import { programInput, tell } from './program.ts';

/** Of a song at 128 kbit/s. */
const PACKET_BYTES = 320;

const input = programInput(
  z.object({
    token: z.string(),
    apiUrl: z.url(),
    seconds: z.number(),
    channels: z.array(z.object({ guild: z.string(), channel: z.string() })),
  }),
);

trustLocalVoice();
const platform = createDiscord({
  token: input.token,
  apiUrl: input.apiUrl,
  withLock: alone,
  media: { open: () => Promise.reject(new Error('No files')), link: () => '' },
  log: new RecordingLog(),
  now: Date.now,
  random: Math.random,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
});
await platform.start(new FakeBot());
const voice = await platform.voice?.();
if (!voice) throw new Error('The platform has no voice');
for (const { guild } of input.channels) while ((await voice.reach(guild)) !== 'here') await delay(50);

const quiet = { isAwaited: true, onMoved() {}, onListeners() {}, onSpeakable() {}, onEnded() {} };
const sessions = await Promise.all(input.channels.map((where) => voice.join({ ...where, ...quiet })));
// The groups are made before the music begins.
await delay(2_000);

async function* packets(): AsyncGenerator<Buffer> {
  const packet = Buffer.alloc(PACKET_BYTES, 7);
  packet[0] = 0xfc;
  for (let n = 0; n < input.seconds * 50; n += 1) yield packet;
}

const before = process.cpuUsage();
const begun = performance.now();
await Promise.all(sessions.map((session) => session.play(packets())));
const share = cpuSeconds(before) / ((performance.now() - begun) / 1000);
tell({ share });
for (const session of sessions) session.leave();
await platform.close();
process.exit();
